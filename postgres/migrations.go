package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// migrations are numbered from 1, without a gap. Each runs once, in order.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the advisory lock for nodes that start at the same time.
const migrationLock = 0x6c616273 // "labs"

// prepare migrates the database to the layout and the schema of this program, in one transaction,
// and reads the values that every start needs. A read-only store changes nothing, and refuses a
// database without rows.
func (s *Store) prepare(ctx context.Context, conn *pgx.Conn) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // no effect after the commit
	if !s.readOnly {
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1)", migrationLock); err != nil {
			return err
		}
		if err := migrate(ctx, tx); err != nil {
			return err
		}
	}
	if err := s.readNumbers(ctx, tx); err != nil {
		return err
	}
	t := s.transaction(ctx, conn, nil)
	t.begun = true
	if !s.readOnly {
		if err := catch(func() error { return t.upgrade(tx) }); err != nil {
			return err
		}
	}
	err = catch(func() error {
		header, err := tables.ReadHeader(&kv{reader: t.reader, store: s})
		s.secret = header.Secret
		s.last.Store(int64(header.State.Last))
		return err
	})
	if err != nil || s.readOnly {
		return err
	}
	return tx.Commit(ctx)
}

// migrate runs the missing migrations.
func migrate(ctx context.Context, tx pgx.Tx) error {
	const versions = "create table if not exists migrations (number integer primary key, ran timestamptz not null default now())"
	if _, err := tx.Exec(ctx, versions); err != nil {
		return err
	}
	var done int
	if err := tx.QueryRow(ctx, "select coalesce(max(number), 0) from migrations").Scan(&done); err != nil {
		return err
	}
	files, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return err
	}
	if done > len(files) {
		return fmt.Errorf("%w: the database has layout %d; this version supports layouts up to %d", metadata.ErrTooNew, done, len(files))
	}
	for number := done + 1; number <= len(files); number++ {
		text, err := migrations.ReadFile(fmt.Sprintf("migrations/%d.sql", number))
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, string(text)); err != nil {
			return fmt.Errorf("migration %d: %w", number, err)
		}
		if _, err := tx.Exec(ctx, "insert into migrations (number) values ($1)", number); err != nil {
			return err
		}
	}
	return nil
}

// readNumbers reads the numbers of the buckets, and assigns one to each bucket without a number.
func (s *Store) readNumbers(ctx context.Context, tx pgx.Tx) error {
	if !s.readOnly {
		const add = `insert into buckets (id, name) select
			(select coalesce(max(id), -1) from buckets) + row_number() over (order by n), name
			from unnest($1::text[]) with ordinality as wanted (name, n) where name not in (select name from buckets)`
		names := make([]string, tables.BucketCount)
		for b := range tables.BucketCount {
			names[b] = b.String()
		}
		if _, err := tx.Exec(ctx, add, names); err != nil {
			return err
		}
	}
	rows, err := tx.Query(ctx, "select id, name from buckets")
	if err != nil {
		return err
	}
	numbers := map[string]int16{}
	var number int16
	var name string
	if _, err := pgx.ForEachRow(rows, []any{&number, &name}, func() error { numbers[name] = number; return nil }); err != nil {
		return err
	}
	for b := range tables.BucketCount {
		s.numbers[b] = noBucket
		if number, ok := numbers[b.String()]; ok {
			s.numbers[b] = number
		}
	}
	return nil
}

// upgrade creates the first rows of an empty database, or migrates the rows of an older schema.
func (t *transaction) upgrade(tx pgx.Tx) error {
	k := &kv{reader: t.reader, store: t.store, writes: &writes{}}
	var err error
	switch t.state, err = readState(tx.QueryRow(t.ctx, stateSQL+" for update")); {
	case errors.Is(err, pgx.ErrNoRows):
		const first = "insert into state (stamp, access, schema, long) values (0, 1, $1, '{}')"
		if _, err := tx.Exec(t.ctx, first, int32(tables.Schema)); err != nil {
			return err
		}
		if err := tables.Initialize(k, k, t.store.Now); err != nil {
			return err
		}
		t.state = state{schema: int32(tables.Schema), access: 1}
		return t.write(k.writes)
	case err != nil:
		return err
	}
	if uint32(t.state.schema) < tables.Oldest {
		return fmt.Errorf("%w: %d, the oldest supported is %d", metadata.ErrTooOld, t.state.schema, tables.Oldest)
	}
	t.store.noteLong(t.state.long)
	for ; t.state.schema < int32(tables.Schema); t.state.schema++ {
		if err := tables.Migrate(k, k, uint32(t.state.schema)); err != nil {
			return err
		}
	}
	return t.write(k.writes)
}

// write sends the writes of a migration.
func (t *transaction) write(w *writes) error {
	batch := &pgx.Batch{}
	t.queueWrites(batch, w)
	batch.Queue("update state set schema = $1, long = $2", t.state.schema, []int16(t.store.long()))
	return t.conn.SendBatch(t.ctx, batch).Close()
}
