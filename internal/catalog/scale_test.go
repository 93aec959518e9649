package catalog

import (
	"encoding/binary"
	"os"
	"strconv"
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
	node := func(i int) artifacts.Digest {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(i))
		return artifacts.Sum(b[:])
	}
	begun := time.Now()
	fill(t, c, nodes, fan, node)
	t.Logf("%d links written in %v", nodes*fan, time.Since(begun).Round(time.Millisecond))
	for _, q := range []struct {
		what string
		ask  func() (int, error)
	}{
		{"hop down", func() (int, error) { l, err := c.Hop(t.Context(), node(nodes/2), Down, 1000); return len(l), err }},
		{"hop up", func() (int, error) { l, err := c.Hop(t.Context(), node(nodes-1), Up, 1000); return len(l), err }},
		{"earlier keys", func() (int, error) {
			s := Step{Key: artifacts.Key{Step: "call", Digest: node(-nodes/2 - 1)}, Reproduction: "r1", Started: time.Unix(0, int64(nodes))}
			found, total, err := c.Earlier(t.Context(), s, 1000)
			if len(found) < 500 || total < nodes/2 {
				t.Errorf("%d of %d earlier keys", len(found), total)
			}
			return len(found), err
		}},
		{"closure down", func() (int, error) {
			r, err := c.Closure(t.Context(), node(0), Down, 0, most)
			return len(r.Nodes), err
		}},
		{"closure up", func() (int, error) {
			r, err := c.Closure(t.Context(), node(nodes-1), Up, 0, most)
			return len(r.Nodes), err
		}},
	} {
		at := time.Now()
		n, err := q.ask()
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

// fill links node i to five later ones, so that closures grow quickly in both directions.
func fill(t *testing.T, c *Catalog, nodes, fan int, node func(int) artifacts.Digest) {
	t.Helper()
	tx, err := c.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := newLoader(tx)
	b := newBatch()
	for i := range nodes {
		src, via := b.digest(node(i)), b.digest(node(-i-1))
		b.steps = append(b.steps, []any{via, b.name("call"), 0, 0, src, 10, b.name("text/plain"), src, b.name("r" + strconv.Itoa(i%3)), b.name("w"), b.name("c"), 1, 0, i, i})
		for k := range fan {
			to := i + 1 + (i*7919+k*104729)%max(1, nodes-i)
			if to >= nodes {
				to = nodes - 1 - k
			}
			b.links[link{src, b.digest(node(to)), via, b.name("m" + strconv.Itoa(k))}] = struct{}{}
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
