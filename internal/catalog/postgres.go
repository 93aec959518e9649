package catalog

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"cxrepro/artifacts"
)

// ErrAddress is the error of a database address that cannot be read.
var ErrAddress = errors.New("not an address of a PostgreSQL database")

// OpenPostgres opens or makes the catalog of one store in a PostgreSQL database, in a schema
// of its own: any number of stores share a database. One of another version is thrown away.
// address is a URL, postgres://USER@HOST:PORT/DATABASE?sslmode=...; what it leaves out comes
// from the environment (PGPASSWORD and its like) as PostgreSQL's own programs read it.
//
// Errors: ErrAddress; a server that cannot be reached. No error holds a password.
func OpenPostgres(ctx context.Context, address, storeURL string) (*Catalog, error) {
	if !IsPostgres(address) {
		return nil, fmt.Errorf("open catalog: %w: it begins with neither postgres:// nor postgresql://", ErrAddress)
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("open catalog: %w: want postgres://USER@HOST:PORT/DATABASE", ErrAddress)
	}
	config.RuntimeParams["application_name"] = "cxrepro"
	schema := "cxrepro_" + artifacts.Sum([]byte(storeURL)).Short()
	where := fmt.Sprintf("catalog %s in database %s on %s", schema, config.Database, config.Host)
	// A catalog can be made again, so a commit need not wait for the disk. Questions over
	// all digests want their sets in memory.
	settings := `SET search_path TO ` + schema + `; SET synchronous_commit TO off; SET work_mem TO '256MB'; SET client_min_messages TO warning`
	db := sql.OpenDB(pgDriver{stdlib.GetConnector(*config, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, settings)
		return err
	}))})
	db.SetMaxOpenConns(4)
	if err := preparePostgres(ctx, db, schema, storeURL); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", where, err), db.Close())
	}
	return &Catalog{db: db, lock: `LOCK TABLE about IN EXCLUSIVE MODE`}, nil
}

// IsPostgres reports whether an address is one for OpenPostgres.
func IsPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// preparePostgres makes schema and tables where they are missing. Programs that open one
// catalog at once do so one after another.
func preparePostgres(ctx context.Context, db *sql.DB, schema, storeURL string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // of what was not committed
	for _, query := range []string{`SELECT pg_advisory_xact_lock(hashtext('cxrepro catalog'))`, `CREATE SCHEMA IF NOT EXISTS ` + schema} {
		if _, err := tx.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	err = prepare(ctx, tx, storeURL)
	if errors.Is(err, errOther) {
		for _, query := range []string{`DROP SCHEMA ` + schema + ` CASCADE`, `CREATE SCHEMA ` + schema} {
			if _, err := tx.ExecContext(ctx, query); err != nil {
				return err
			}
		}
		err = prepare(ctx, tx, storeURL)
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// pgDriver hands out connections that read the statements of this package, which are
// written as SQLite reads them.
type pgDriver struct{ driver.Connector }

// Connect opens a connection.
func (d pgDriver) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := d.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := c.(*stdlib.Conn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver gave a connection of type %T", c), c.Close())
	}
	return pgConn{conn}, nil
}

// pgConn is a connection that rewrites every statement with spell.
type pgConn struct{ *stdlib.Conn }

// Prepare, PrepareContext, ExecContext and QueryContext are those of the driver.
func (c pgConn) Prepare(query string) (driver.Stmt, error) { return c.Conn.Prepare(spell(query)) }

// PrepareContext is that of the driver.
func (c pgConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.Conn.PrepareContext(ctx, spell(query))
}

// ExecContext is that of the driver.
func (c pgConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.ExecContext(ctx, spell(query), args)
}

// QueryContext is that of the driver.
func (c pgConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.QueryContext(ctx, spell(query), args)
}

// types are column types as PostgreSQL calls them. Texts are compared byte by byte, as
// SQLite does, whatever language the database speaks.
var types = strings.NewReplacer(" BLOB", " BYTEA", " TEXT", ` TEXT COLLATE "C"`, "INTEGER PRIMARY KEY", "BIGINT PRIMARY KEY", " WITHOUT ROWID", "")

// spell writes a statement as PostgreSQL reads it: $1 for each ?, $2 for ?2, and its types.
func spell(query string) string {
	if strings.HasPrefix(query, "CREATE TABLE") {
		query = types.Replace(query)
	}
	if !strings.Contains(query, "?") {
		return query
	}
	var b strings.Builder
	b.Grow(len(query) + len(query)/4)
	quoted, n := false, 0
	for i := range len(query) {
		c := query[i]
		switch {
		case c == '\'':
			quoted = !quoted
			b.WriteByte(c)
		case c == '?' && !quoted:
			b.WriteByte('$')
			if i+1 == len(query) || query[i+1] < '0' || query[i+1] > '9' {
				n++
				b.WriteString(strconv.Itoa(n))
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
