package postgres_test

import (
	"strings"
	"testing"
	"time"

	"labshelf/internal/servers"
	"labshelf/postgres"
)

// TestExamine tests the description of a database before and after a store is opened in it, and
// that Examine creates nothing.
func TestExamine(t *testing.T) {
	t.Parallel()
	address := servers.StartPostgres(t).Database(t)
	examine := func(empty bool) {
		t.Helper()
		c, err := postgres.Examine(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		if c.Number < 140000 || c.Server == "" || c.RoundTrip <= 0 || c.Ahead.Abs() > time.Second || !c.Local || !c.FSync ||
			c.Commit != "on" || c.Standbys != "" || c.Standby || c.Connections < 1 || !c.MayMakeTables || c.Empty != empty {
			t.Errorf("want empty = %v: %+v", empty, c)
		}
		if is, err := postgres.Empty(t.Context(), address); err != nil || is != empty {
			t.Errorf("empty is %v, %v; want %v", is, err, empty)
		}
	}
	examine(true)
	examine(true) // the first call has created nothing
	s, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	examine(false)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := postgres.Examine(t.Context(), "postgres://labshelf:hunter2@127.0.0.1:1/labshelf"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("without a listener: %v", err)
	}
}
