package slowclient

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"strconv"
)

// polls is the number of polls per stall timeout that ask how much of a large write the client has
// received.
const polls = 8

// ReadFrom implements [io.ReaderFrom]. The server uses sendfile only for a file in exactly one
// limited reader. So ReadFrom shortens an existing limit instead of wrapping it.
func (w *Writer) ReadFrom(src io.Reader) (sent int64, err error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	whole, limited := src.(*io.LimitedReader)
	if !limited {
		whole = &io.LimitedReader{R: src, N: math.MaxInt64}
	}
	file, isFile := whole.R.(*os.File)
	switch {
	case whole.N <= ChunkSize:
		return w.sendSmall(whole)
	case isFile && w.sendsAtOnce():
		return w.sendFile(file, whole)
	}
	return w.sendChunks(whole)
}

// sendsAtOnce reports whether the system may receive a whole body with one call, and flushes
// earlier output. Sending continues after a deadline, so the number of accepted bytes must be
// known. Windows does not report it, and a buffer or a chunked encoding hides it.
func (w *Writer) sendsAtOnce() bool {
	return w.conn != nil && w.Header().Get("Content-Length") != "" && w.control.Flush() == nil
}

// sendSmall sends a body that fits into a buffer, which is faster than sendfile. It does not reuse
// the buffer after an error: HTTP/2 returns an error as soon as the client resets the stream, and
// may read the buffer after that.
func (w *Writer) sendSmall(whole *io.LimitedReader) (sent int64, err error) {
	buffer := w.buffers.Get()
	n, reading := io.ReadFull(whole.R, buffer[:whole.N])
	whole.N -= int64(n)
	if n, err = w.Write(buffer[:n]); err != nil {
		return int64(n), err
	}
	w.buffers.Put(buffer)
	if reading != io.EOF && reading != io.ErrUnexpectedEOF {
		err = reading
	}
	return int64(n), err
}

// sendChunks sends chunk by chunk, each with its own deadline.
func (w *Writer) sendChunks(whole *io.LimitedReader) (sent int64, err error) {
	for whole.N > 0 {
		w.budget.start()
		part := &io.LimitedReader{R: whole.R, N: min(ChunkSize, whole.N)}
		n, err := io.Copy(w.ResponseWriter, part)
		w.budget.stop(n)
		sent, whole.N, w.bytes = sent+n, whole.N-n, w.bytes+n
		if err != nil || part.N > 0 { // an error, or the end of src
			return sent, err
		}
	}
	return sent, nil
}

// sendFile sends a file with one system call, for as long as the client receives it. Chunks of 32
// KiB, or at most 64 KiB of unsent bytes, would cost twice the processor time that nginx needs. The
// progress is polled several times per stall timeout. A deadline in the middle is harmless, since
// the number of sent bytes is known. The position of the file does not tell this number: if the
// deadline has passed before the call, more is read than sent.
func (w *Writer) sendFile(file *os.File, whole *io.LimitedReader) (sent int64, err error) {
	start, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	w.conn.BufferUnsent(true)
	defer w.conn.BufferUnsent(false)
	pending := w.unacknowledged()
	for whole.N > 0 {
		w.budget.startWithin(w.budget.Stall / polls)
		part := &io.LimitedReader{R: file, N: whole.N}
		n, err := io.Copy(w.ResponseWriter, part)
		before := pending
		pending = w.unacknowledged()
		w.budget.stop(n + before - pending)
		sent, whole.N, w.bytes = sent+n, whole.N-n, w.bytes+n
		switch {
		case w.budget.left > 0 && errors.Is(err, os.ErrDeadlineExceeded):
			if _, err := file.Seek(start+sent, io.SeekStart); err != nil {
				return sent, err
			}
		case err != nil, part.N > 0: // an error, or the end of the file
			return sent, err
		}
	}
	return sent, nil
}

// A complete body between these sizes is sent together with the header. Go's server sends 4 KiB and
// then the rest, so the client wakes up twice. A smaller body is sent with the header anyway. For a
// larger body, the copy costs as much as it saves.
const (
	corkFrom = 2 << 10
	corkTo   = 16 << 10
)

// corks reports whether p is such a body.
func (w *Writer) corks(p []byte) bool {
	return w.conn != nil && len(p) >= corkFrom && len(p) <= corkTo && w.bytes == 0 &&
		w.Header().Get("Content-Length") == strconv.Itoa(len(p))
}

// sendCorked sends p together with the header.
func (w *Writer) sendCorked(p []byte) (int, error) {
	buffer := w.buffers.Get()
	defer w.buffers.Put(buffer)
	w.conn.Cork(buffer[:0])
	n, err := w.ResponseWriter.Write(p)
	flushed := w.control.Flush()
	if sent := w.conn.Uncork(); sent != nil { // none of it counts as sent
		return 0, sent
	}
	return n, cmp.Or(err, flushed)
}

// sendBytes sends all of p with one system call, as sendFile does with files. Here the position of
// the reader tells how much was sent.
func (w *Writer) sendBytes(to io.ReaderFrom, p []byte) (sent int, err error) {
	rest := bytes.NewReader(p)
	for idle := 0; rest.Len() > 0 && idle <= polls; idle++ {
		w.budget.startWithin(w.budget.Stall / polls)
		_, err = to.ReadFrom(rest)
		n := len(p) - rest.Len() - sent
		w.budget.stop(int64(n))
		sent, w.bytes = sent+n, w.bytes+int64(n)
		if err != nil && (w.budget.left <= 0 || !errors.Is(err, os.ErrDeadlineExceeded)) {
			return sent, err
		}
		if n > 0 {
			idle = 0
		}
	}
	return sent, err
}

// unacknowledged returns the number of sent bytes that have not arrived, as far as the connection
// knows.
func (w *Writer) unacknowledged() int64 {
	bytes, err := w.conn.Unacknowledged()
	if err != nil {
		return 0 // the connection is broken; the next write reports it
	}
	return bytes
}
