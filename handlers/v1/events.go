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

// Events serves the event stream.
type Events struct{ *api }

const (
	reconnect  = "retry: 3000\n" // milliseconds after which a browser reconnects
	retryAfter = "30"            // seconds, sent when there are too many streams
)

// Follow streams events as server-sent events. The stream ends when the client disconnects, its key
// or session ends, or the service stops. A reconnecting client sends its position in Last-Event-ID.
// A browser window that takes over the stream from another one sends its position in after.
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
	header.Set("X-Accel-Buffering", "no") // otherwise nginx delays events until its buffer is full
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
			return nil // the answer has begun; the client reconnects and receives the reason then
		}
		text := append([]byte(opening), encode.Events(batch)...)
		opening = ""
		if _, err := w.Write(text); err != nil || control.Flush() != nil {
			return nil // the client is gone
		}
	}
}
