package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"labshelf/metadata/tables"
)

// ErrNotEmpty means that a database already contains metadata.
var ErrNotEmpty = errors.New("the database already contains metadata")

// Load fills the empty database at an address with all rows of another engine, in one transaction.
// After an error the database is unchanged. It returns ErrNotEmpty for a database in which a Store
// was opened before.
func Load(ctx context.Context, address string, rows iter.Seq2[tables.Row, error]) error {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return fmt.Errorf("postgres: address: %w", err)
	}
	s := &Store{config: config}
	s.longKeys.Store(&longBuckets{})
	s.configure()
	conn, err := s.connect(ctx, nil)
	if err != nil {
		return wrap("connect", err)
	}
	return wrap("load", errors.Join(s.load(ctx, conn, rows), conn.Close(context.WithoutCancel(ctx))))
}

func (s *Store) load(ctx context.Context, conn *pgx.Conn, rows iter.Seq2[tables.Row, error]) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // no effect after the commit
	if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1)", migrationLock); err != nil {
		return err
	}
	if err := migrate(ctx, tx); err != nil {
		return err
	}
	if err := s.readNumbers(ctx, tx); err != nil {
		return err
	}
	var opened bool
	if err := tx.QueryRow(ctx, "select exists (select from state)").Scan(&opened); err != nil {
		return err
	}
	if opened {
		return ErrNotEmpty
	}
	source := &copySource{store: s}
	next, stop := iter.Pull2(rows)
	defer stop()
	source.next = next
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"key_values"}, []string{"bucket", "key", "value"}, source); err != nil {
		return cmp.Or(source.err, err)
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"long_key_values"}, []string{"bucket", "digest", "head", "key", "value"},
		pgx.CopyFromRows(source.long)); err != nil {
		return err
	}
	if err := s.continueFrom(ctx, conn, tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// continueFrom writes the row of the last stamp from the loaded rows. The access version is greater
// than any version of a former node.
func (s *Store) continueFrom(ctx context.Context, conn *pgx.Conn, tx pgx.Tx) error {
	t := s.transaction(ctx, conn, nil)
	t.begun = true
	return catch(func() error {
		header, err := tables.ReadHeader(&kv{reader: t.reader, store: s})
		if err != nil {
			return err
		}
		last := int64(header.State.Last)
		_, err = tx.Exec(ctx, "insert into state (stamp, access, schema, long) values ($1, $2, $3, $4)",
			last, max(last, 1), int32(tables.Schema), []int16(s.long()))
		return err
	})
}

// copySource yields the rows for key_values, and keeps the others.
type copySource struct {
	store *Store
	next  func() (tables.Row, error, bool)
	row   tables.Row
	err   error
	long  [][]any
}

func (c *copySource) Next() bool {
	for {
		row, err, ok := c.next()
		if c.err = err; !ok || err != nil {
			return false
		}
		if len(row.Key) <= longest {
			c.row = row
			return true
		}
		number, key := c.store.numbers[row.Bucket], append([]byte{}, row.Key...)
		c.long = append(c.long, []any{number, digest(string(key)), key[:headBytes], key, append([]byte{}, row.Value...)})
		c.store.noteLong(longBuckets{number})
	}
}

func (c *copySource) Values() ([]any, error) {
	value := c.row.Value
	if value == nil {
		value = []byte{}
	}
	return []any{c.store.numbers[c.row.Bucket], c.row.Key, value}, nil
}

func (c *copySource) Err() error { return c.err }
