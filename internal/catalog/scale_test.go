package catalog

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
)

// TestScale measures one hop and a closure of some 10^4 artifacts among many links. It makes
// 200,000 links, or as many as CXREPRO_CATALOG_LINKS says.
func TestScale(t *testing.T) {
	total := 200_000
	if s := os.Getenv("CXREPRO_CATALOG_LINKS"); s != "" {
		var err error
		if total, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	if testing.Short() {
		total = 20_000
	}
	c, err := Open(t.Context(), t.TempDir(), "mem://scale")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	const fan, most = 5, 10_000
	nodes := total / fan
	node := scaleNode
	begun := time.Now()
	fill(t, c, nodes, fan, node)
	t.Logf("%d links written in %v", nodes*fan, time.Since(begun).Round(time.Millisecond))
	for _, q := range questions(c, nodes, node, most) {
		at := time.Now()
		n, err := q.ask(t.Context())
		took := time.Since(at)
		t.Logf("%-13s %6d in %v", q.what, n, took.Round(10*time.Microsecond))
		if err != nil || n < fan-1 {
			t.Errorf("%s: %d, %v", q.what, n, err)
		}
		if limit := 5 * time.Second; took > limit {
			t.Errorf("%s took %v, more than %v even on a busy machine", q.what, took, limit)
		}
	}
}

// BenchmarkScale asks catalogs of 10^6 and of 5x10^6 links; or only of as many as
// CXREPRO_CATALOG_LINKS says.
func BenchmarkScale(b *testing.B) {
	sizes := []int{1_000_000, 5_000_000}
	if s := os.Getenv("CXREPRO_CATALOG_LINKS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			b.Fatal(err)
		}
		sizes = []int{n}
	}
	const fan, most = 5, 10_000
	for _, total := range sizes {
		c, err := Open(b.Context(), b.TempDir(), "mem://scale")
		if err != nil {
			b.Fatal(err)
		}
		nodes := total / fan
		begun := time.Now()
		fill(b, c, nodes, fan, scaleNode)
		b.Logf("%d links written in %v", nodes*fan, time.Since(begun).Round(time.Millisecond))
		for _, q := range questions(c, nodes, scaleNode, most) {
			b.Run(strconv.Itoa(total)+"/"+strings.ReplaceAll(q.what, " ", "-"), func(b *testing.B) {
				found := 0
				for range b.N {
					n, err := q.ask(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					found = n
				}
				b.ReportMetric(float64(found), "found")
			})
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// question is something that a catalog is asked; ask returns how much it found.
type question struct {
	what string
	ask  func(ctx context.Context) (int, error)
}

func questions(c *Catalog, nodes int, node func(int) artifacts.Digest, most int) []question {
	closure := func(from int, way Direction) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			r, err := c.Closure(ctx, node(from), way, 0, most)
			return len(r.Nodes), err
		}
	}
	return []question{
		{"hop down", func(ctx context.Context) (int, error) {
			l, err := c.Hop(ctx, node(nodes/2), Down, 1000)
			return len(l), err
		}},
		{"hop up", func(ctx context.Context) (int, error) {
			l, err := c.Hop(ctx, node(nodes-1), Up, 1000)
			return len(l), err
		}},
		{"earlier keys", func(ctx context.Context) (int, error) {
			s := Step{Key: artifacts.Key{Step: "call", Digest: node(-nodes/2 - 1)}, Reproduction: "r1", Started: time.Unix(0, int64(nodes))}
			found, total, err := c.Earlier(ctx, s, 1000)
			if err == nil && (len(found) < 500 || total < nodes/2) {
				err = fmt.Errorf("%d of %d earlier keys", len(found), total)
			}
			return len(found), err
		}},
		{"closure down", closure(0, Down)},
		{"closure up", closure(nodes-1, Up)},
		{"closure with links", func(ctx context.Context) (int, error) { // as a walk asks: hops in batches, described
			r, err := c.Closure(ctx, node(0), Down, 0, most/10)
			if err != nil {
				return 0, err
			}
			links, _, err := c.Hops(ctx, r.Nodes, Down, most)
			if err != nil {
				return 0, err
			}
			_, err = c.Describe(ctx, r.Nodes)
			return len(links), err
		}},
	}
}

func scaleNode(i int) artifacts.Digest {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(i))
	return artifacts.Sum(b[:])
}

// fill links node i to five later ones, so that closures grow quickly in both directions.
func fill(t testing.TB, c *Catalog, nodes, fan int, node func(int) artifacts.Digest) {
	t.Helper()
	tx, err := c.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := newLoader(tx)
	b := newBatch()
	for i := range nodes {
		src, via := b.digest(node(i)), b.digest(node(-i-1))
		b.steps = append(b.steps, stepRow{via, b.name("call"), 0, 0, src, 10, b.name("text/plain"), src, b.name("r" + strconv.Itoa(i%3)), b.name("w"), b.name("c"), 1, 0, int64(i), int64(i)})
		for k := range fan {
			to := i + 1 + (i*7919+k*104729)%max(1, nodes-i)
			if to >= nodes {
				to = nodes - 1 - k
			}
			b.link(src, node(to), via, b.name("m"+strconv.Itoa(k)))
		}
		if i%4096 == 4095 || i == nodes-1 {
			if err := l.write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			b = newBatch()
		}
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}
