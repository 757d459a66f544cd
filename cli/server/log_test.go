package server

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"labshelf/cli/config"
)

// TestLogKeepsOrder: lines are written soon, warnings and errors immediately, and all lines in
// order.
func TestLogKeepsOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out output
		own, log, flush := newLog(config.Config{LogFormat: "json", LogLevel: zerolog.InfoLevel}, &out)
		lines := func(want ...string) {
			t.Helper()
			synctest.Wait()
			text := out.String()
			if n := strings.Count(text, "\n"); n != len(want) {
				t.Errorf("%d lines are written, want %q: %s", n, want, text)
			}
			for _, word := range want {
				_, after, found := strings.Cut(text, `"message":"`+word+`"`)
				if !found {
					t.Fatalf("%q is missing, or out of order: %s", word, out.String())
				}
				text = after
			}
		}
		log.Info().Msg("one")
		log.Info().Msg("two")
		lines()
		time.Sleep(logDelay)
		lines("one", "two")
		log.Info().Msg("three")
		lines("one", "two")
		log.Error().Msg("four")
		lines("one", "two", "three", "four")
		time.Sleep(2 * logDelay)
		log.Info().Msg("five")
		own.Info().Msg("six")
		lines("one", "two", "three", "four", "five", "six")
		log.Info().Msg("seven")
		flush()
		lines("one", "two", "three", "four", "five", "six", "seven")
		log.Info().Msg(strings.Repeat("x", logBlock))
		lines("one", "two", "three", "four", "five", "six", "seven", strings.Repeat("x", logBlock))
		time.Sleep(2 * logDelay)
	})
}
