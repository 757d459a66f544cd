package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Condition describes a database before a store is opened in it.
type Condition struct {
	Server        string        // version, such as 15.18
	Number        int           // version as a number, such as 150018
	RoundTrip     time.Duration // the fastest of several questions
	Ahead         time.Duration // how far the server's clock is ahead of this machine's, with an error of half a round trip
	Encrypted     bool          // the connection is encrypted
	Local         bool          // the connection does not leave the machine
	FSync         bool          // the settings fsync and full_page_writes are on
	Commit        string        // the setting synchronous_commit
	Standbys      string        // the setting synchronous_standby_names; "": none
	Checksums     bool          // the server has checksums of its pages
	Standby       bool          // the server is a standby, and accepts no changes
	Connections   int           // limit for all clients
	MayMakeTables bool          // in the first schema of its search path
	Empty         bool          // no store was ever opened in it
}

// Examine examines the database at an address and changes nothing.
func Examine(ctx context.Context, address string) (c Condition, err error) {
	err = ask(ctx, address, func(conn *pgx.Conn) error {
		const sql = `select current_setting('server_version'), current_setting('server_version_num')::int,
			coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false), inet_server_addr() is null or inet_server_addr() = inet_client_addr(),
			current_setting('fsync') = 'on' and current_setting('full_page_writes') = 'on', current_setting('synchronous_commit'),
			current_setting('synchronous_standby_names'), current_setting('data_checksums') = 'on', pg_is_in_recovery(),
			current_setting('max_connections')::int, coalesce(has_schema_privilege(current_schema(), 'create'), false)`
		err := conn.QueryRow(ctx, sql).Scan(&c.Server, &c.Number, &c.Encrypted, &c.Local, &c.FSync, &c.Commit, &c.Standbys, &c.Checksums,
			&c.Standby, &c.Connections, &c.MayMakeTables)
		if err == nil {
			c.Empty, err = empty(ctx, conn)
		}
		for range 5 {
			if err != nil {
				break
			}
			err = c.time(ctx, conn)
		}
		return err
	})
	return c, err
}

// time keeps the clock reading of the fastest question.
func (c *Condition) time(ctx context.Context, conn *pgx.Conn) error {
	var shows time.Time
	begun := time.Now()
	if err := conn.QueryRow(ctx, "select clock_timestamp()").Scan(&shows); err != nil {
		return err
	}
	if took := time.Since(begun); c.RoundTrip == 0 || took < c.RoundTrip {
		c.RoundTrip, c.Ahead = took, shows.Sub(begun.Add(took/2))
	}
	return nil
}

// Empty reports whether no store was ever opened in the database at an address, and nothing was
// loaded into it.
func Empty(ctx context.Context, address string) (is bool, err error) {
	err = ask(ctx, address, func(conn *pgx.Conn) error {
		is, err = empty(ctx, conn)
		return err
	})
	return is, err
}

func empty(ctx context.Context, conn *pgx.Conn) (is bool, err error) {
	if err := conn.QueryRow(ctx, "select to_regclass('state') is null").Scan(&is); err != nil || is {
		return is, err
	}
	err = conn.QueryRow(ctx, "select not exists (select from state)").Scan(&is)
	return is, err
}

// ask runs fn on a separate connection, which no store has prepared.
func ask(ctx context.Context, address string, fn func(*pgx.Conn) error) error {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return fmt.Errorf("postgres: address: %w", err)
	}
	s := &Store{config: config}
	s.configure()
	connecting := config.ConnConfig.Copy()
	connecting.ValidateConnect = nil
	conn, err := pgx.ConnectConfig(ctx, connecting)
	if err != nil {
		return wrap("connect", err)
	}
	return wrap("examine", errors.Join(fn(conn), conn.Close(context.WithoutCancel(ctx))))
}
