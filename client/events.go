package client

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"labshelf/handlers/wire"
)

// Event is a change of an object. It has no names: read the object.
type Event struct {
	ID string `json:"id"` // for Events, to continue after this event
	wire.Event
}

// Reload is the kind of an event after which events may be missing: read all required objects
// again.
const Reload = "reload"

// maxQuiet is the time without a byte after which a stream counts as broken. The service sends
// bytes every 15 seconds.
const maxQuiet = time.Minute

// Events yields the events that the caller may see, in order, each once: those after the event with
// an id, or from now on if that is "". If the connection breaks, it connects again, as the client's
// Retries allow, and continues after the last event. It ends with an error if the service is
// unreachable for longer, the key has ended, or ctx ends.
func (c *Client) Events(ctx context.Context, after string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		retries := c.retries()
		for try := 1; ; try++ {
			s := &eventStream{after: after, yield: yield}
			err := s.follow(ctx, c.caller)
			switch {
			case s.left:
				return
			case s.received:
				after, try = s.after, 0 // failures in a row, without progress in between
			}
			if err == nil && try < retries.Tries {
				err = cmp.Or(ctx.Err(), retries.Wait(ctx, retries.pause(max(1, try))))
			} else if err == nil {
				err = tried(fmt.Errorf("%w: the event stream ends immediately", ErrIncomplete), try)
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}

// eventStream is one connection of Events.
type eventStream struct {
	after    string // the id of the last event
	received bool   // any bytes
	left     bool   // the caller has left the loop
	yield    func(Event, error) bool
}

// follow connects and reads to the end of the connection, which is not an error.
func (s *eventStream) follow(ctx context.Context, c *caller) error {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	var response *http.Response
	r := request{method: http.MethodGet, path: "/events"}.with("Accept", "text/event-stream").with("Last-Event-ID", s.after)
	err := c.run(within, r, func(answer *http.Response) error {
		response = answer
		return typed(answer, "text/event-stream")
	})
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // truncated in any case
	quiet := time.AfterFunc(maxQuiet, cancel)
	defer quiet.Stop()
	lines := bufio.NewScanner(response.Body)
	fields := map[string]string{}
	for lines.Scan() {
		quiet.Reset(maxQuiet)
		s.received = true
		name, value, _ := strings.Cut(lines.Text(), ":")
		if lines.Text() != "" {
			fields[name] = strings.TrimPrefix(value, " ")
			continue
		}
		if err := s.take(fields); err != nil || s.left {
			return err
		}
		clear(fields)
	}
	return nil
}

// take yields the event in a block of fields. A block without data contains at most an id.
func (s *eventStream) take(fields map[string]string) error {
	s.after = cmp.Or(fields["id"], s.after)
	data := fields["data"]
	if data == "" {
		return nil
	}
	e := Event{}
	if err := json.Unmarshal([]byte(data), &e); err != nil || e.Kind == "" {
		return &Problem{Status: http.StatusOK}
	}
	e.ID = s.after
	s.left = !s.yield(e, nil)
	return nil
}
