package handlers

import (
	"io"
	"net/http"
	"sync"
	"time"

	"labshelf/auth"
)

// chunk is how many bytes are handed to the network under one deadline. Smaller ones cost more calls; larger ones take clients
// for too slow that are not, since nothing is known of a chunk until all of it has been taken.
const chunk = 32 << 10

// pace is how much more waiting one direction of a request may cost. A client begins with the whole patience. Waiting for him
// uses it up, each byte gives back the time that it takes at the least rate, and there is never more than at the beginning. The
// time that the service takes for its own work is not his.
type pace struct {
	patience time.Duration // 0: for ever
	rate     int64         // bytes per second; 0: any byte gives back everything
	set      func(time.Time) error
	shared   bool // deadlines of this connection act by themselves, not on the next call: HTTP/2
	left     time.Duration
	waited   time.Duration // in all
	began    time.Time
	until    time.Time // the deadline that is set; zero: none by this
}

func newPace(config *Config, r *http.Request, set func(time.Time) error) pace {
	return pace{patience: config.Stall, rate: config.MinRate, set: set, shared: r.ProtoMajor > 1, left: config.Stall}
}

// wait is called before the client is waited for.
func (p *pace) wait() { p.waitFor(p.left) }

// waitFor is wait with an end that may come earlier, for a caller who can go on after it. A deadline that is there already may be
// a little too early: to set one costs as much as all the rest of this, and a small answer would have three of them.
func (p *pace) waitFor(most time.Duration) {
	if p.patience == 0 {
		return
	}
	p.began = time.Now()
	until := p.began.Add(min(p.left, most))
	if later := until.Sub(p.until); later < 0 || later > p.patience/64 || !p.until.After(p.began) {
		p.until = until
		_ = p.set(until) // what has no deadlines has no stalling client either
	}
}

// moved is called when n bytes have come or gone.
func (p *pace) moved(n int64) {
	if p.patience == 0 {
		return
	}
	took := time.Since(p.began)
	p.waited += took
	p.left -= took
	switch {
	case n > 0 && (p.rate == 0 || n >= int64(p.patience.Seconds()*float64(p.rate))):
		p.left = p.patience
	case n > 0:
		p.left = min(p.patience, p.left+time.Duration(float64(n)/float64(p.rate)*float64(time.Second)))
	}
	if p.shared {
		p.rest()
	}
}

// rest lets the connection be idle for as long as the service likes.
func (p *pace) rest() {
	if p.patience > 0 {
		p.until = time.Time{}
		_ = p.set(p.until)
	}
}

// response is the ResponseWriter of every request. It counts for the log, and moves the write deadline forward with what the
// client takes: time limits follow progress, not total time. It keeps ReadFrom (so that files go out by sendfile), Flush and
// Unwrap.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	body    *progressBody
	buffers *sync.Pool // of *[chunk]byte
	pace    pace
	line    Line // to which goes what is written, as it is; nil: TLS, HTTP/2, or nothing is known of the other end
	status  int
	bytes   int64
	caller  auth.Principal
	method  string // of the route
	route   string // "" until there is one
	err     error
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	if w.body != nil && !w.body.ended && !w.pace.shared {
		// Or the server would first wait for the rest of the body, which a client that waits for the answer never sends.
		w.Header().Set("Connection", "close")
	}
	w.pace.wait()
	w.ResponseWriter.WriteHeader(status)
	w.pace.moved(0)
}

func (w *response) Write(p []byte) (written int, err error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	to, reads := w.ResponseWriter.(io.ReaderFrom)
	if reads && len(p) > chunk && w.inOneGo() {
		return w.sendBytes(to, p)
	}
	send := w.ResponseWriter.Write
	if w.gathers(p) {
		send = w.sendGathered
	}
	for first := true; err == nil && (first || len(p) > written); first = false {
		w.pace.wait()
		var n int
		n, err = send(p[written:min(len(p), written+chunk)])
		written += n
		w.pace.moved(int64(n))
	}
	w.bytes += int64(written)
	return written, err
}

// Flush sends what is buffered.
func (w *response) Flush() {
	w.pace.wait()
	_ = w.control.Flush() // a client that went away gets no error
	w.pace.moved(0)
}

// Unwrap lets http.ResponseController find the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// progressBody is the body of a request that must not come too slowly.
type progressBody struct {
	io.ReadCloser
	pace  pace
	bytes int64 // that have come
	ended bool  // it has been read to its end, or there is none
}

func (b *progressBody) Read(p []byte) (int, error) {
	b.pace.wait()
	n, err := b.ReadCloser.Read(p)
	b.pace.moved(int64(n))
	b.bytes += int64(n)
	if b.ended = err == io.EOF; b.ended {
		b.pace.rest() // or the connection would be broken while the answer is made
	}
	return n, err
}
