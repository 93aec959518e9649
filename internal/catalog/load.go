package catalog

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cxrepro/artifacts"
)

// rowsAtOnce is how many rows one INSERT carries.
const rowsAtOnce = 64

// loader writes rows in one transaction.
type loader struct {
	tx       *sql.Tx
	prepared map[string]*sql.Stmt
}

func newLoader(tx *sql.Tx) *loader { return &loader{tx: tx, prepared: map[string]*sql.Stmt{}} }

// write writes a batch's rows in the order of their numbers, which keeps the tables' pages
// close to each other.
func (l *loader) write(ctx context.Context, b *batch) error {
	digests := make([]artifacts.Digest, 0, len(b.digests))
	for d := range b.digests {
		digests = append(digests, d)
	}
	slices.SortFunc(digests, func(x, y artifacts.Digest) int { return cmp.Compare(number(x), number(y)) })
	rows := make([][]any, 0, len(digests))
	for _, d := range digests {
		rows = append(rows, []any{number(d), bytes.Clone(d[:]), 0})
	}
	const clash = ` ON CONFLICT (id) DO UPDATE SET clash = 1 WHERE `
	if err := l.insert(ctx, "digests", rows, clash+`digests.digest <> excluded.digest`); err != nil {
		return err
	}
	rows = rows[:0]
	for s := range b.names {
		rows = append(rows, []any{nameNumber(s), s, 0})
	}
	if err := l.insert(ctx, "names", rows, clash+`names.name <> excluded.name`); err != nil {
		return err
	}
	byKey := func(x, y []any) int { return cmp.Compare(x[0].(int64), y[0].(int64)) }
	slices.SortFunc(b.steps, byKey)
	slices.SortFunc(b.calls, byKey)
	if err := l.insert(ctx, "steps", b.steps, ``); err != nil {
		return err
	}
	if err := l.insert(ctx, "calls", b.calls, ``); err != nil {
		return err
	}
	links := make([]link, 0, len(b.links))
	for k := range b.links {
		links = append(links, k)
	}
	slices.SortFunc(links, func(x, y link) int {
		return cmp.Or(cmp.Compare(x.src, y.src), cmp.Compare(x.dst, y.dst), cmp.Compare(x.via, y.via))
	})
	rows = make([][]any, 0, len(links))
	for _, k := range links {
		rows = append(rows, []any{k.src, k.dst, k.via, k.name})
	}
	if err := l.insert(ctx, "links", rows, ` ON CONFLICT DO NOTHING`); err != nil {
		return err
	}
	rows = rows[:0]
	for d, p := range b.known {
		rows = append(rows, []any{number(d), nameNumber(p.Name), p.Value})
	}
	if err := l.insert(ctx, "parameters", rows, ` ON CONFLICT DO NOTHING`); err != nil {
		return err
	}
	rows = rows[:0]
	for d, r := range b.blobs {
		rows = append(rows, []any{number(d), r.Size, nameNumber(r.MediaType)})
	}
	if err := l.insert(ctx, "blobs", rows, ` ON CONFLICT DO NOTHING`); err != nil {
		return err
	}
	rows = rows[:0]
	for _, r := range b.documents {
		rows = append(rows, []any{number(r.Digest)})
	}
	return l.insert(ctx, "documents", rows, ` ON CONFLICT DO NOTHING`)
}

func (l *loader) insert(ctx context.Context, table string, rows [][]any, suffix string) error {
	for chunk := range slices.Chunk(rows, rowsAtOnce) {
		args := make([]any, 0, len(chunk)*len(chunk[0]))
		for _, row := range chunk {
			args = append(args, row...)
		}
		if err := l.exec(ctx, `INSERT INTO `+table+` VALUES `+places(len(chunk), len(chunk[0]))+suffix, args...); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return nil
}

// exec runs a statement that is prepared once.
func (l *loader) exec(ctx context.Context, query string, args ...any) error {
	st := l.prepared[query]
	if st == nil {
		var err error
		if st, err = l.tx.PrepareContext(ctx, query); err != nil {
			return err
		}
		l.prepared[query] = st
	}
	_, err := st.ExecContext(ctx, args...)
	return err
}

// forget removes what is known of keys.
func (l *loader) forget(ctx context.Context, keys []int64) error {
	for _, k := range keys {
		for _, query := range []string{`DELETE FROM steps WHERE key = ?`, `DELETE FROM links WHERE via = ?`, `DELETE FROM calls WHERE key = ?`} {
			if err := l.exec(ctx, query, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// tidy removes digests and names that nothing mentions any more, and refuses numbers that
// stand for two.
func (l *loader) tidy(ctx context.Context, removed bool) error {
	if removed {
		for _, query := range []string{
			`DELETE FROM parameters WHERE id NOT IN (SELECT dst FROM links)`,
			`DELETE FROM blobs WHERE id NOT IN (SELECT dst FROM links)`,
			`DELETE FROM digests WHERE id NOT IN (SELECT key FROM steps UNION SELECT result FROM steps UNION SELECT statement FROM steps UNION SELECT src FROM links UNION SELECT dst FROM links UNION SELECT root FROM pins)`,
			`DELETE FROM names WHERE id NOT IN (SELECT step FROM steps UNION SELECT media FROM steps UNION SELECT reproduction FROM steps UNION SELECT worker FROM steps
				UNION SELECT code FROM steps UNION SELECT takeover FROM steps UNION SELECT name FROM links
				UNION SELECT name FROM parameters UNION SELECT media FROM blobs UNION SELECT kind FROM calls UNION SELECT model FROM calls UNION SELECT outcome FROM calls UNION SELECT currency FROM calls)`,
		} {
			if _, err := l.tx.ExecContext(ctx, query); err != nil {
				return err
			}
		}
	}
	var clashes int
	err := l.tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM digests WHERE clash <> 0) + (SELECT count(*) FROM names WHERE clash <> 0)`).Scan(&clashes)
	if err == nil && clashes > 0 {
		err = fmt.Errorf("%d digests begin with the same 64 bits as another one: a catalog cannot hold this store", clashes)
	}
	return err
}

func (l *loader) close() error {
	var err error
	for _, st := range l.prepared {
		err = errors.Join(err, st.Close())
	}
	return err
}

// places returns "(?,?),(?,?)" for rows of so many columns.
func places(rows, columns int) string {
	row := "(" + strings.Repeat("?,", columns-1) + "?)"
	return strings.Repeat(row+",", rows-1) + row
}
