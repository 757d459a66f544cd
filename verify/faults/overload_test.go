package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"labshelf/verify/e2e"
)

// overloadMemory is the maximum resident memory of the service during an attack, in MiB: 256 MiB of
// admitted bodies and answers, and as much again for garbage.
const overloadMemory = 512

// Limits for the 99th percentile of the durations of another caller's requests during an attack.
// The limit of a long row is a multiple of the duration without an attack, but at least
// overloadLeast.
const (
	overloadFactor = 10
	overloadLeast  = 250 * time.Millisecond
	overloadShort  = 2 * time.Second // in short rows, which run next to other work
)

// attack is a load by several clients of one caller, and the concurrent requests of another caller.
type attack struct {
	name    string
	clients int
	abuse   func(client int) sent
	refusal int // status that the clients must receive eventually
	normal  func(sample int) sent
}

// sent is a request.
type sent struct {
	client       *http.Client // its connections come from a fixed address
	method, path string       // the path from the root of the service
	key          string       // "" without one
	password     string       // password of a link
	body         io.Reader
	contentType  string
	slowly       bool // read the answer slowly
}

// overload starts one attack after another, and measures the duration of another caller's requests.
func overload(ctx context.Context, t *trial) error {
	program, err := t.build(ctx)
	if err != nil {
		return err
	}
	data := filepath.Join(t.dir, "data")
	service, err := e2e.Start(ctx, program, data, "--anonymous", "on", "--anonymous-per-minute", "0")
	if err != nil {
		return err
	}
	o := &overloaded{trial: t, service: service}
	err = o.prepare(ctx)
	for _, a := range o.attacks() {
		if err != nil {
			break
		}
		if err = o.try(ctx, a); err != nil {
			err = fmt.Errorf("%s: %w", a.name, err)
		}
	}
	return errors.Join(err, service.Stop(), clean(ctx, program, data))
}

// try runs an attack and measures its effect.
func (o *overloaded) try(ctx context.Context, a attack) error {
	alone, err := o.time(ctx, a, 0)
	if err != nil {
		return err
	}
	if err := resetPeak(o.service.PID()); err != nil {
		return err
	}
	begun, end := context.WithCancel(ctx)
	abusers := abusers{refusal: a.refusal, refused: make(chan struct{}), failed: make(chan error, a.clients)}
	for n := range a.clients {
		abusers.all.Go(func() { abusers.repeat(begun, o, a, n) })
	}
	err = abusers.wait(ctx)
	var during time.Duration
	if err == nil {
		during, err = o.time(ctx, a, o.samples())
	}
	memory, reading := peakMemory(o.service.PID())
	end()
	abusers.all.Wait()
	if err := errors.Join(err, reading, ctx.Err()); err != nil {
		return err
	}
	o.done++
	o.add("refusals", abusers.refusals.Load())
	o.most("memory in MiB:", memory)
	o.most("p99 alone in ms:", alone.Seconds()*1000)
	o.most("p99 in ms:", during.Seconds()*1000)
	o.log("%s: %d clients, %d refused, %d served, %.0f MiB; another caller's p99 %v, without the attack %v", a.name, a.clients, abusers.refusals.Load(),
		abusers.served.Load(), memory, during.Round(time.Millisecond/10), alone.Round(time.Millisecond/10))
	limit := overloadShort
	if o.long {
		limit = max(overloadLeast, overloadFactor*alone)
	}
	switch {
	case during > limit:
		return violated(nil, "another caller's request takes %v, and %v without the attack", during, alone)
	case memory > overloadMemory:
		return violated(nil, "the service uses %.0f MiB of memory", memory)
	}
	return nil
}

// time returns the 99th percentile of the durations of the normal requests of an attack. Each
// request must succeed.
func (o *overloaded) time(ctx context.Context, a attack, first int) (time.Duration, error) {
	var took []time.Duration
	for n := range o.samples() {
		request := a.normal(first + n)
		begun := time.Now()
		response, err := o.send(ctx, request)
		if err == nil {
			var text []byte
			text, err = io.ReadAll(response.Body)
			err = errors.Join(err, response.Body.Close())
			if err == nil && response.StatusCode/100 != 2 {
				err = e2e.Answer{Status: response.StatusCode, Body: text}.Problem()
			}
		}
		if err != nil {
			return 0, violated(nil, "another caller's %s %s: %w", request.method, request.path, err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[(len(took)*99-1)/100], nil
}

// send sends a request, and returns the answer with an unread body.
func (o *overloaded) send(ctx context.Context, s sent) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, s.method, "http://"+o.service.Address()+s.path, s.body)
	if err != nil {
		return nil, err
	}
	if _, slow := s.body.(*trickle); slow {
		request.ContentLength = trickled
	}
	request.Header.Set("Content-Type", cmp.Or(s.contentType, "application/octet-stream"))
	request.Header.Set("Depth", "1")
	switch {
	case s.password != "":
		request.SetBasicAuth("visitor", s.password)
	case s.key != "":
		request.Header.Set("Authorization", s.key)
	}
	return s.client.Do(request)
}

// abusers are the clients of one attack.
type abusers struct {
	refusal          int
	all              sync.WaitGroup
	refusals, served atomic.Int64
	once             sync.Once
	refused          chan struct{} // closed at the first refusal
	failed           chan error
}

// wait waits until a client is refused for the first time.
func (a *abusers) wait(ctx context.Context) error {
	select {
	case <-a.refused:
		return nil
	case err := <-a.failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Minute):
		return violated(nil, "no client was refused; %d were served", a.served.Load())
	}
}

// repeat sends the requests of one client until ctx ends.
func (a *abusers) repeat(ctx context.Context, o *overloaded, of attack, client int) {
	for ctx.Err() == nil {
		request := of.abuse(client)
		response, err := o.send(ctx, request)
		if err != nil {
			continue // the connection was aborted
		}
		pause := time.Duration(0)
		switch seconds, unreadable := strconv.Atoi(response.Header.Get("Retry-After")); {
		case response.StatusCode == http.StatusServiceUnavailable && (unreadable != nil || seconds < 1):
			a.failed <- violated(nil, "a refusal has the Retry-After %q", response.Header.Get("Retry-After"))
			pause = time.Hour
		case response.StatusCode == a.refusal:
			a.refusals.Add(1)
			a.once.Do(func() { close(a.refused) })
			pause = time.Second // the minimum of Retry-After
		case response.StatusCode/100 == 5:
			a.failed <- violated(nil, "status %d", response.StatusCode)
			pause = time.Hour
		default:
			a.served.Add(1)
		}
		if request.slowly && pause == 0 {
			for err == nil && ctx.Err() == nil {
				_, err = response.Body.Read(make([]byte, 1))
				_ = sleep(ctx, byteInterval)
			}
		} else {
			_, _ = io.Copy(io.Discard, response.Body)
		}
		_ = response.Body.Close()
		_ = sleep(ctx, pause)
	}
}

// trickled is the announced size of a slow client's body in bytes.
const trickled = 1_000_000

// trickle is a body that returns one byte per byteInterval.
type trickle struct{}

func (*trickle) Read(p []byte) (int, error) {
	time.Sleep(byteInterval)
	p[0] = 'x'
	return 1, nil
}
