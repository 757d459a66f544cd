package servers_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"labshelf/internal/servers"
)

func TestProxy(t *testing.T) {
	t.Parallel()
	p := servers.StartPostgres(t)
	database := p.Database(t)
	query(t, p, database, "CREATE TABLE words (word text); GRANT ALL ON words TO labshelf")
	proxy := servers.StartProxy(t, p.Addr())
	through := proxy.Route(database)

	t.Run("passes", func(t *testing.T) {
		for _, mode := range []string{"disable", "prefer"} { // the second mode requests TLS, and continues without it
			var letters [2][]byte
			proxy.Rule(func(m servers.Message) servers.Verdict {
				letters[m.From] = append(letters[m.From], m.Type)
				return servers.Pass
			})
			address := strings.Replace(through, "sslmode=disable", "sslmode="+mode, 1)
			if got, err := servers.Psql(t.Context(), address, "SELECT 6 * 7"); err != nil || got != "42" {
				t.Errorf("%s: the answer is %q, %v", mode, got, err)
			}
			proxy.Rule(nil)
			if !bytes.Contains(letters[servers.Client], []byte("Q")) || !bytes.Contains(letters[servers.Server], []byte("TDCZ")) {
				t.Errorf("%s: the messages are %q", mode, letters)
			}
		}
	})

	commits := func(m servers.Message) bool {
		return m.From == servers.Client && m.Type == 'Q' && strings.HasPrefix(string(m.Body()), "COMMIT")
	}
	done := func(m servers.Message) bool {
		return m.From == servers.Server && m.Type == 'C' && strings.HasPrefix(string(m.Body()), "COMMIT")
	}
	for i, c := range []struct {
		verdict servers.Verdict
		match   func(servers.Message) bool
		kept    string
	}{
		{servers.CutBefore, commits, "0"},
		{servers.CutAfter, commits, "1"}, // the client cannot know the result
		{servers.CutBefore, done, "1"},
	} {
		t.Run(fmt.Sprint("cut ", i), func(t *testing.T) {
			before := proxy.Cuts()
			proxy.CutAt(0, c.verdict, c.match)
			word := fmt.Sprint("word ", i)
			_, err := servers.Psql(t.Context(), through, "BEGIN", "INSERT INTO words VALUES ('"+word+"')", "COMMIT")
			if err == nil || proxy.Cuts() != before+1 {
				t.Errorf("the client got %v, after %d cuts", err, proxy.Cuts()-before)
			}
			// The server has ended the session when it no longer holds the table lock.
			if got := query(t, p, database, "LOCK words; SELECT count(*) FROM words WHERE word = '"+word+"'"); got != c.kept {
				t.Errorf("the database has %s rows, want %s", got, c.kept)
			}
		})
	}

	t.Run("pauses", func(t *testing.T) {
		passed := 0
		proxy.Rule(func(servers.Message) servers.Verdict { passed++; return servers.Pass })
		proxy.Pause()
		answered := make(chan error, 1)
		go func() {
			_, err := servers.Psql(t.Context(), through, "SELECT 1")
			answered <- err
		}()
		if got := query(t, p, database, "SELECT 1"); got != "1" {
			t.Errorf("not through the proxy, the result is %q", got)
		}
		proxy.Rule(nil)
		if passed != 0 {
			t.Errorf("a paused proxy has forwarded %d messages", passed)
		}
		proxy.Resume()
		if err := <-answered; err != nil {
			t.Error(err)
		}
	})
}
