package catalog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// valuesAtOnce is how many values one INSERT carries.
const valuesAtOnce = 960

// loader writes rows in one transaction.
type loader struct {
	tx       *sql.Tx
	prepared map[string]*sql.Stmt
	inserts  map[shape]string
	args     []any
}

// shape is what an INSERT's text depends on.
type shape struct {
	table string
	rows  int
}

func newLoader(tx *sql.Tx) *loader {
	return &loader{tx: tx, prepared: map[string]*sql.Stmt{}, inserts: map[shape]string{}}
}

// write writes a batch's rows in the order of their numbers, which keeps the tables' pages
// close to each other.
func (l *loader) write(ctx context.Context, b *batch) error {
	const clash, known = ` ON CONFLICT (id) DO UPDATE SET clash = 1 WHERE `, ` ON CONFLICT DO NOTHING`
	if err := l.forget(ctx, b.again); err != nil {
		return err
	}
	b.sort()
	names, values, blobs := slices.Collect(maps.Keys(b.names)), slices.Collect(maps.Values(b.known)), slices.Collect(maps.Values(b.blobs))
	for _, table := range []struct {
		name, suffix string
		columns, n   int
		row          func(args []any, i int) []any
	}{
		{"digests", clash + `digests.digest <> excluded.digest`, 3, len(b.digests), func(args []any, i int) []any {
			return append(args, number(b.digests[i]), b.digests[i][:], 0)
		}},
		{"names", clash + `names.name <> excluded.name`, 3, len(names), func(args []any, i int) []any { return append(args, b.names[names[i]], names[i], 0) }},
		{"steps", ``, len(stepRow{}), len(b.steps), func(args []any, i int) []any { return appendRow(args, b.steps[i][:]) }},
		{"calls", ``, len(callRow{}), len(b.calls), func(args []any, i int) []any { return appendRow(args, b.calls[i][:]) }},
		{"links", known, 4, len(b.links), func(args []any, i int) []any {
			k := &b.links[i]
			return append(args, k.src, k.dst, k.via, k.name)
		}},
		{"parameters", known, 3, len(values), func(args []any, i int) []any {
			return append(args, number(values[i].Digest), nameNumber(values[i].Name), values[i].Value)
		}},
		{"blobs", known, 3, len(blobs), func(args []any, i int) []any {
			return append(args, number(blobs[i].Digest), blobs[i].Size, b.name(blobs[i].MediaType))
		}},
		{"documents", known, 1, len(b.documents), func(args []any, i int) []any { return append(args, number(b.documents[i].Digest)) }},
	} {
		if err := l.insert(ctx, table.name, table.suffix, table.columns, table.n, table.row); err != nil {
			return fmt.Errorf("%s: %w", table.name, err)
		}
	}
	return nil
}

func appendRow(args []any, row []int64) []any {
	for _, v := range row {
		args = append(args, v)
	}
	return args
}

// insert writes n rows, of which row appends the i-th.
func (l *loader) insert(ctx context.Context, table, suffix string, columns, n int, row func(args []any, i int) []any) error {
	most := valuesAtOnce / columns
	for from := 0; from < n; from += most {
		to := min(from+most, n)
		l.args = l.args[:0]
		for i := from; i < to; i++ {
			l.args = row(l.args, i)
		}
		shape := shape{table, to - from}
		query, ok := l.inserts[shape]
		if !ok {
			query = `INSERT INTO ` + table + ` VALUES ` + places(to-from, columns) + suffix
			l.inserts[shape] = query
		}
		if err := l.exec(ctx, query, l.args...); err != nil {
			return err
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
