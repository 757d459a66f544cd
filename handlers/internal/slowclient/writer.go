package slowclient

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// ChunkSize is how many bytes are handed to the network under one deadline. Smaller ones cost more
// calls; larger ones take clients for too slow that are not, since nothing is known of a chunk
// until all of it has been accepted.
const ChunkSize = 32 << 10

// Buffers is a pool of buffers of ChunkSize. A buffer of which a connection may still send bytes is
// not put back.
type Buffers struct{ pool sync.Pool }

// Get returns a buffer with any content.
func (b *Buffers) Get() *[ChunkSize]byte {
	if buffer, ok := b.pool.Get().(*[ChunkSize]byte); ok {
		return buffer
	}
	return new([ChunkSize]byte)
}

// Put takes a buffer back that is not used any more.
func (b *Buffers) Put(buffer *[ChunkSize]byte) { b.pool.Put(buffer) }

// Writer is the ResponseWriter of a request. It counts bytes, and moves the write deadline forward
// with what the client takes. It keeps ReadFrom (so that files are sent by sendfile), Flush and
// Unwrap.
type Writer struct {
	http.ResponseWriter
	control *http.ResponseController
	body    body
	buffers *Buffers
	budget  budget
	conn    Conn // nil: TLS, HTTP/2, or a connection that is no Conn
	status  int
	bytes   int64
}

// Begin makes w the writer of a request, and returns the request with its body under a budget, too.
// The request's own deadlines, if the server sets any, are replaced by those of the limits.
func (w *Writer) Begin(plain http.ResponseWriter, r *http.Request, limits Limits, buffers *Buffers) *http.Request {
	control := http.NewResponseController(plain)
	*w = Writer{
		ResponseWriter: plain, control: control, buffers: buffers, conn: connOf(r), budget: newBudget(limits, r, control.SetWriteDeadline),
		body: body{ReadCloser: r.Body, budget: newBudget(limits, r, control.SetReadDeadline), ended: r.Body == nil || r.Body == http.NoBody},
	}
	if w.body.ended {
		return r
	}
	// The server looks at the body of its own request to see whether the client still waits to send
	// it.
	r = r.WithContext(r.Context())
	r.Body = &w.body
	return r
}

// End is called last: what is still buffered is sent after it, under a deadline like all before.
func (w *Writer) End() { w.budget.start() }

// Status returns the status of the answer, 0 before there is one.
func (w *Writer) Status() int { return w.status }

// Received returns the bytes of the request's body so far.
func (w *Writer) Received() int64 { return w.body.bytes }

// Sent returns the bytes of the answer's body so far.
func (w *Writer) Sent() int64 { return w.bytes }

// Waited returns how long the service has waited for the client to send or to take bytes.
func (w *Writer) Waited() time.Duration { return w.budget.waited + w.body.budget.waited }

// WriteHeader implements [http.ResponseWriter].
func (w *Writer) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	if !w.body.ended && !w.budget.shared {
		// Or the server would first wait for the rest of the body, which a client that waits for
		// the answer never sends.
		w.Header().Set("Connection", "close")
	}
	w.budget.start()
	w.ResponseWriter.WriteHeader(status)
	w.budget.stop(0)
}

// Write implements [io.Writer].
func (w *Writer) Write(p []byte) (written int, err error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	to, reads := w.ResponseWriter.(io.ReaderFrom)
	if reads && len(p) > ChunkSize && w.sendsAtOnce() {
		return w.sendBytes(to, p)
	}
	send := w.ResponseWriter.Write
	if w.corks(p) {
		send = w.sendCorked
	}
	for first := true; err == nil && (first || len(p) > written); first = false {
		w.budget.start()
		var n int
		n, err = send(p[written:min(len(p), written+ChunkSize)])
		written += n
		w.budget.stop(int64(n))
	}
	w.bytes += int64(written)
	return written, err
}

// Flush sends what is buffered.
func (w *Writer) Flush() {
	w.budget.start()
	_ = w.control.Flush() // a client that went away gets no error
	w.budget.stop(0)
}

// Unwrap lets http.ResponseController find the connection.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
