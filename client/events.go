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

// Event is something that happened to an object. It has no names: read the object.
type Event struct {
	ID string `json:"id"` // for Events, to continue after it
	wire.Event
}

// Reload is the kind of the event that stands for everything that may have been missed: read again
// what is needed.
const Reload = "reload"

// maxQuiet is after how long without a byte a stream is taken for broken. The service sends
// something every 15 seconds.
const maxQuiet = time.Minute

// Events yields what the caller may hear of, in its order, each once: after the event with an id,
// or from now where that is "". It does not end by itself: where the connection breaks it connects
// again, as the client's Retries say, and goes on behind the last event. After an error, which it
// yields, it ends: the service cannot be reached for longer, the key has ended, or ctx.
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
				after, try = s.after, 0 // so many in a row, without anything in between
			}
			if err == nil && try < retries.Tries {
				err = cmp.Or(ctx.Err(), retries.Wait(ctx, retries.pause(max(1, try))))
			} else if err == nil {
				err = tried(fmt.Errorf("%w: the stream of events ends at once", ErrIncomplete), try)
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
	after    string // the id that was received last
	received bool   // anything
	left     bool   // the loop over the events was left
	yield    func(Event, error) bool
}

// follow connects and reads to the end of the connection, which is no error.
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
	defer func() { _ = response.Body.Close() }() // it is cut off in any case
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

// take yields the event of a block of fields. A block without data has at most an id.
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
