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

// polls is how often, within one stall timeout, it is asked how much of a large write the client
// has received.
const polls = 8

// ReadFrom implements [io.ReaderFrom]. Below it, sendfile is used only for a file in one limited
// reader, so an existing limit is shortened, not wrapped.
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

// sendsAtOnce tells whether the system may be given all of a body by one call, and flushes what
// precedes it. Sending continues after a deadline in the middle, so it has to be known how much was
// accepted by then: not all systems report it (Windows), and it cannot be known of what passes a
// buffer or has a chunked encoding.
func (w *Writer) sendsAtOnce() bool {
	return w.conn != nil && w.Header().Get("Content-Length") != "" && w.control.Flush() == nil
}

// sendSmall sends what fits into a buffer, which is then faster than sendfile. A buffer that could
// not be sent is not used again: HTTP/2 returns an error as soon as the client has reset the
// stream, and may read what it was given after that.
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

// sendChunks sends chunk by chunk, each under a deadline of its own.
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

// sendFile has the system send a file by one call for as long as the client takes it. In chunks of
// 32 KiB, or with at most 64 KiB unsent, it cost twice the processor time that nginx needs.
// Progress is polled several times within the stall timeout: a deadline that passes in the middle
// does no harm, since what was sent is known. The position of the file does not tell it: where the
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

// A complete body between these sizes is sent together with the head. Go's server sends 4 KiB, then
// the rest: two calls, for which the client wakes twice. A smaller one fits in with the head
// anyway; for a larger one the copy costs as much.
const (
	corkFrom = 2 << 10
	corkTo   = 16 << 10
)

// corks tells whether p is such a body.
func (w *Writer) corks(p []byte) bool {
	return w.conn != nil && len(p) >= corkFrom && len(p) <= corkTo && w.bytes == 0 &&
		w.Header().Get("Content-Length") == strconv.Itoa(len(p))
}

// sendCorked sends p together with the head.
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

// sendBytes has the system send all of p by one call, as sendFile does with files; here the
// reader's position tells what was sent. A page of 100 resources takes two calls instead of five,
// and a tenth less time.
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

// unacknowledged returns how many bytes that were sent have not arrived, as far as the connection
// knows.
func (w *Writer) unacknowledged() int64 {
	bytes, err := w.conn.Unacknowledged()
	if err != nil {
		return 0 // the connection is broken, which the next write reports
	}
	return bytes
}
