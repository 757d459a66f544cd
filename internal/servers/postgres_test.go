package servers_test

import (
	"strings"
	"testing"

	"labshelf/internal/servers"
)

// query runs statements that must succeed.
func query(t *testing.T, p *servers.Postgres, address, statements string) string {
	t.Helper()
	answer, err := p.Query(t.Context(), address, statements)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	p := servers.StartPostgres(t, "max_connections=33")
	one, other := p.Database(t), p.Database(t)
	for setting, want := range map[string]string{"fsync": "on", "synchronous_commit": "on", "max_connections": "33"} {
		if got := query(t, p, one, "SHOW "+setting); got != want {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}
	query(t, p, one, "CREATE TABLE words (word text); INSERT INTO words VALUES ('b'), ('A'), ('a'), ('B')")
	if got := query(t, p, one, "SELECT word FROM words ORDER BY word"); got != "a\nA\nb\nB" {
		t.Errorf("the order is %q, want an order other than byte order", got)
	}
	if got := query(t, p, other, "SELECT to_regclass('words') IS NULL"); got != "t" {
		t.Error("the databases share a table")
	}
	before := p.Addr()
	must(t, p.Kill())
	if _, err := p.Query(t.Context(), one, "SELECT 1"); err == nil {
		t.Error("the killed server answers")
	}
	must(t, p.Start())
	if got := query(t, p, one, "SELECT count(*) FROM words"); got != "4" || p.Addr() != before {
		t.Errorf("after the kill, the server has %s rows at %s, want 4 at %s", got, p.Addr(), before)
	}
	if !strings.Contains(p.Log(), "not properly shut down") {
		t.Errorf("the log does not report the kill:\n%s", p.Log())
	}
}

func TestStandby(t *testing.T) {
	t.Parallel()
	p := servers.StartPostgres(t)
	database := p.Database(t)
	query(t, p, database, "CREATE TABLE words (word text)")
	s := p.Standby(t, true)
	query(t, p, database, "INSERT INTO words VALUES ('kept')")
	must(t, p.Kill())
	if _, err := s.Query(t.Context(), database, "INSERT INTO words VALUES ('refused')"); err == nil {
		t.Error("a standby accepts changes")
	}
	must(t, s.Promote())
	query(t, s, database, "INSERT INTO words VALUES ('more')")
	if got := query(t, s, s.At(database), "SELECT word FROM words"); got != "kept\nmore" {
		t.Errorf("the standby has %q", got)
	}
	again := s.Standby(t, false)
	must(t, again.Promote())
	query(t, again, database, "INSERT INTO words VALUES ('alone')")
}
