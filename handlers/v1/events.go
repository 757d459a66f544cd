package v1

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
)

// Events serves the events, while they happen.
type Events struct{ *api }

const (
	reconnect  = "retry: 3000\n" // milliseconds after which a browser connects again
	retryAfter = "30"            // seconds, where there are too many streams
)

// Follow sends what happens while it happens, as server-sent events, until the client goes,
// its key or session has ended, or the service stops. A client that connects again says by
// Last-Event-ID where it was; a browser's window that takes over from another one, by after.
func (a Events) Follow(w http.ResponseWriter, r *exchange.Request) error {
	after := cmp.Or(r.Header.Get("Last-Event-ID"), r.Query.Get("after"))
	stream, err := a.repo.Events.Open(r.Context(), r.Caller, after)
	if err != nil {
		if known, is := errors.AsType[*errs.Error](err); is && known.Code == errs.CodeTooManyStreams {
			w.Header().Set("Retry-After", retryAfter)
		}
		return err
	}
	defer stream.Close()
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // or nginx would keep events until they fill a buffer
	if r.Method == http.MethodHead {
		return nil
	}
	control, opening := http.NewResponseController(w), reconnect
	for {
		began := time.Now()
		batch, err := stream.Next(r.Context())
		exchange.NoteIdle(w, time.Since(began))
		if err != nil {
			if r.Context().Err() == nil && exchange.PublicError(err).Kind == errs.Internal {
				exchange.NoteError(w, err)
			}
			return nil // the answer has begun: the client connects again, and hears why not
		}
		text := append([]byte(opening), encode.Events(batch)...)
		opening = ""
		if _, err := w.Write(text); err != nil || control.Flush() != nil {
			return nil // the client is gone
		}
	}
}
