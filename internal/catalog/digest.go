package catalog

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"cxrepro/artifacts"
)

// contents are the rows that Digest covers: everything but the numbers' own tables, what was
// looked into, and the store's clock. Rows come in the order of their numbers, which depends on
// their contents alone.
var contents = []string{
	`SELECT 'step', k.digest, n.name, s.removed, r.digest, s.size, m.name, t.digest, p.name, w.name, c.name, s.fence, o.name, s.started, s.finished
		FROM steps s LEFT JOIN digests k ON k.id = s.key LEFT JOIN names n ON n.id = s.step LEFT JOIN digests r ON r.id = s.result LEFT JOIN names m ON m.id = s.media
		LEFT JOIN digests t ON t.id = s.statement LEFT JOIN names p ON p.id = s.reproduction LEFT JOIN names w ON w.id = s.worker
		LEFT JOIN names c ON c.id = s.code LEFT JOIN names o ON o.id = s.takeover ORDER BY s.key`,
	`SELECT 'link', a.digest, b.digest, k.digest, n.name FROM links l LEFT JOIN digests a ON a.id = l.src LEFT JOIN digests b ON b.id = l.dst
		LEFT JOIN digests k ON k.id = l.via LEFT JOIN names n ON n.id = l.name ORDER BY l.src, l.dst, l.via, l.name`,
	`SELECT 'call', k.digest, i.name, m.name, o.name, c.draw, c.sent, c.prompt, c.completion, c.cost, u.name FROM calls c LEFT JOIN digests k ON k.id = c.key
		LEFT JOIN names i ON i.id = c.kind LEFT JOIN names m ON m.id = c.model LEFT JOIN names o ON o.id = c.outcome LEFT JOIN names u ON u.id = c.currency ORDER BY c.key`,
	`SELECT 'parameter', d.digest, n.name, p.value FROM parameters p LEFT JOIN digests d ON d.id = p.id LEFT JOIN names n ON n.id = p.name ORDER BY p.id`,
	`SELECT 'pin', p.name, d.digest FROM pins p LEFT JOIN digests d ON d.id = p.root ORDER BY p.name, p.root`,
}

// Digest is the digest of what the catalog says. It is the same for every catalog of one store,
// however and whenever it was made.
func (c *Catalog) Digest(ctx context.Context) (artifacts.Digest, error) {
	sum := sha256.New()
	w := bufio.NewWriterSize(sum, 1<<16)
	for _, query := range contents {
		rows, err := c.db.QueryContext(ctx, query)
		if err != nil {
			return artifacts.Digest{}, err
		}
		if err := errors.Join(writeRows(w, rows), rows.Close()); err != nil {
			return artifacts.Digest{}, err
		}
	}
	if err := w.Flush(); err != nil {
		return artifacts.Digest{}, err
	}
	var d artifacts.Digest
	sum.Sum(d[:0])
	return d, nil
}

// writeRows writes each row as a line of quoted values: numbers as they are, digests in
// hexadecimal, nothing for what a row does not have.
func writeRows(w *bufio.Writer, rows *sql.Rows) error {
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values := make([]any, len(columns))
	at := make([]any, len(columns))
	for i := range values {
		at[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(at...); err != nil {
			return err
		}
		for i, v := range values {
			if i > 0 {
				w.WriteByte(' ')
			}
			switch v := v.(type) {
			case nil:
			case []byte:
				w.WriteString(hex.EncodeToString(v))
			case string:
				fmt.Fprintf(w, "%q", v)
			default:
				fmt.Fprint(w, v)
			}
		}
		if err := w.WriteByte('\n'); err != nil {
			return err
		}
	}
	return rows.Err()
}
