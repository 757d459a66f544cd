package slowclient

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// ChunkSize is the number of bytes that are written under one deadline. Smaller chunks cost more
// calls. With larger chunks more clients seem stalled, since progress within a chunk is unknown.
const ChunkSize = 32 << 10

// Buffers is a pool of buffers of ChunkSize bytes. Buffers that a connection may still send are not
// returned to it.
type Buffers struct{ pool sync.Pool }

// Get returns a buffer with arbitrary content.
func (b *Buffers) Get() *[ChunkSize]byte {
	if buffer, ok := b.pool.Get().(*[ChunkSize]byte); ok {
		return buffer
	}
	return new([ChunkSize]byte)
}

// Put returns an unused buffer to the pool.
func (b *Buffers) Put(buffer *[ChunkSize]byte) { b.pool.Put(buffer) }

// Writer is the ResponseWriter of a request. It counts bytes, and extends the write deadline as the
// client receives them. It supports ReadFrom (for sendfile), Flush and Unwrap.
type Writer struct {
	http.ResponseWriter
	control *http.ResponseController
	body    body
	buffers *Buffers
	budget  budget
	conn    Conn // nil: TLS, HTTP/2, or a connection that is not a Conn
	status  int
	bytes   int64
}

// Begin makes w the writer of a request. It returns the request with a body that has a budget, too.
// The deadlines of limits replace the server's deadlines.
func (w *Writer) Begin(plain http.ResponseWriter, r *http.Request, limits Limits, buffers *Buffers) *http.Request {
	control := http.NewResponseController(plain)
	*w = Writer{
		ResponseWriter: plain, control: control, buffers: buffers, conn: connOf(r), budget: newBudget(limits, r, control.SetWriteDeadline),
		body: body{ReadCloser: r.Body, budget: newBudget(limits, r, control.SetReadDeadline), ended: r.Body == nil || r.Body == http.NoBody},
	}
	if w.body.ended {
		return r
	}
	// The server inspects the body of its own request to see whether the client still waits to send
	// it.
	r = r.WithContext(r.Context())
	r.Body = &w.body
	return r
}

// End must be called last. The server sends buffered bytes after it, under a new deadline.
func (w *Writer) End() { w.budget.start() }

// Status returns the status of the answer, or 0 before the header was written.
func (w *Writer) Status() int { return w.status }

// Received returns the bytes of the request's body so far.
func (w *Writer) Received() int64 { return w.body.bytes }

// Sent returns the bytes of the answer's body so far.
func (w *Writer) Sent() int64 { return w.bytes }

// Waited returns the total time of waiting for the client.
func (w *Writer) Waited() time.Duration { return w.budget.waited + w.body.budget.waited }

// WriteHeader implements [http.ResponseWriter].
func (w *Writer) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	if !w.body.ended && !w.budget.shared {
		// Otherwise the server would first wait for the rest of the body, which a client that waits
		// for the answer never sends.
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

// Flush sends buffered bytes.
func (w *Writer) Flush() {
	w.budget.start()
	_ = w.control.Flush() // an error means that the client is gone
	w.budget.stop(0)
}

// Unwrap returns the server's writer, for http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
