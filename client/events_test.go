package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/client"
)

// cutStream cuts the connection after a number of writes, and reports the first write.
type cutStream struct {
	http.ResponseWriter
	left  int
	first func()
}

func (c *cutStream) Write(p []byte) (int, error) {
	if c.left--; c.left < 0 {
		panic(http.ErrAbortHandler)
	}
	defer c.first()
	return c.ResponseWriter.Write(p)
}

func (c *cutStream) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// following returns a client whose streams of events are cut repeatedly, and a channel that is
// closed when the first stream has begun.
func (s *service) following(t *testing.T, connections *atomic.Int64) (c *client.Client, begun <-chan struct{}) {
	t.Helper()
	first := make(chan struct{})
	once := sync.OnceFunc(func() { close(first) })
	c = s.behind(t, func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		service.ServeHTTP(&cutStream{w, int(1 + connections.Add(1)%4), once}, r)
	})
	return c.WithRetries(client.Retries{First: time.Millisecond}), first
}

// TestEventsThroughCuts: over connections that break repeatedly, each event arrives once, in order.
func TestEventsThroughCuts(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	var connections atomic.Int64
	cut, begun := s.following(t, &connections)
	const all = 12
	made, heard := make(chan []string, 1), make(chan struct{}, all)
	go func() {
		<-begun
		var ids []string
		for i := range all {
			space, err := c.Dataspaces.Create(context.Background(), client.NewDataspace{Name: fmt.Sprint("space-", i)})
			if err != nil {
				t.Error(err)
			}
			ids = append(ids, space.ID)
			<-heard // so that the events arrive in several writes
		}
		made <- ids
	}()
	var got []string
	for e, err := range cut.Events(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == "dataspace.create" {
			heard <- struct{}{}
			if got = append(got, e.Object.ID); e.Object.Kind != "dataspace" || e.DataspaceID != e.Object.ID || e.ID == "" {
				t.Errorf("%+v", e)
			}
		}
		if len(got) == all {
			break
		}
	}
	if want := <-made; !slices.Equal(got, want) || connections.Load() < 3 {
		t.Errorf("received %[2]d events over %[1]d connections, want %[3]d in order", connections.Load(), len(got), len(want))
	}
}

// TestEventsEnd: after a key is revoked, the events end with the error of the next connection. A
// stream from an unknown id begins with Reload.
func TestEventsEnd(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	key := must[client.CreatedKey](t)(c.Keys.Create(t.Context(), client.Me, client.NewKey{}))
	var last error
	events := 0
	for e, err := range client.New(s.base, key.Secret).WithRetries(client.Retries{First: time.Millisecond}).Events(t.Context(), "nonsense") {
		if last = err; err != nil {
			break
		}
		if events++; events == 1 && e.Kind == client.Reload {
			check(t, c.Keys.Revoke(t.Context(), client.Me, key.ID))
		}
	}
	var problem *client.Problem
	if !errors.As(last, &problem) || problem.Status != http.StatusUnauthorized || events != 1 {
		t.Errorf("after %d events: %v", events, last)
	}
}
