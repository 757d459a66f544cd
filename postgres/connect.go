package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"labshelf/metadata"
)

// ErrUnsafe means that a setting of the server may lose acknowledged commits.
var ErrUnsafe = errors.New("the server may lose commits")

// mostConnections limits the concurrent views, unless the address sets pool_max_conns.
const mostConnections = 16

// configure sets how connections are opened.
func (s *Store) configure() {
	c := s.config
	if !strings.Contains(c.ConnString(), "pool_max_conns=") {
		c.MaxConns = mostConnections
	}
	c.MinIdleConns = 2
	c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // a view replaces a dead connection itself
	c.AfterConnect = s.examine
	c.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	c.ConnConfig.ConnectTimeout = min(max(c.ConnConfig.ConnectTimeout, 5*time.Second), 30*time.Second)
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}}
	c.ConnConfig.DialFunc = dialer.DialContext
	if _, ok := c.ConnConfig.RuntimeParams["application_name"]; !ok {
		c.ConnConfig.RuntimeParams["application_name"] = "labshelf"
	}
}

// session contains the settings of a connection. All questions use an index, and are planned only
// once. The server disconnects a node that stops in the middle of a commit, since others wait for
// it.
var session = [][2]string{
	{"plan_cache_mode", "force_generic_plan"},
	{"enable_seqscan", "off"}, {"enable_bitmapscan", "off"}, {"enable_hashjoin", "off"}, {"enable_mergejoin", "off"},
	{"jit", "off"},
	{"idle_in_transaction_session_timeout", "60s"},
	{"lock_timeout", "10s"},
}

// examine prepares a connection. It returns an error for a server that may lose a commit or accepts
// none.
func (s *Store) examine(ctx context.Context, conn *pgx.Conn) error {
	var fsync, pages, commit string
	var standby bool
	var now time.Time
	sql := "select current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'), pg_is_in_recovery(), clock_timestamp()"
	for _, setting := range session {
		sql += fmt.Sprintf(", set_config('%s', '%s', false)", setting[0], setting[1])
	}
	into := []any{&fsync, &pages, &commit, &standby, &now}
	for range session {
		into = append(into, new(string))
	}
	if err := conn.QueryRow(ctx, sql).Scan(into...); err != nil {
		return err
	}
	s.setClock(now)
	switch {
	case fsync == "off", pages == "off":
		return fmt.Errorf("%w: fsync and full_page_writes must be on; they are %s and %s", ErrUnsafe, fsync, pages)
	case commit == "off":
		return fmt.Errorf("%w: synchronous_commit must not be off", ErrUnsafe)
	case standby && !s.readOnly:
		return fmt.Errorf("%w: the server is a standby, which accepts no changes", metadata.ErrUnwritable)
	}
	return nil
}
