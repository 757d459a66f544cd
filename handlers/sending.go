package handlers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
)

// looks is how often, while the patience with a client lasts, it is seen what he has taken of a file that is on its way.
const looks = 8

// Line is a connection that knows how far its other end is, and how much of a write that its deadline has cut short was taken.
// Over any other one the client is seen to take what the system takes for him, in pieces.
type Line interface {
	// Untaken returns how many of the bytes written have not arrived at the other end.
	Untaken() (bytes int64, err error)
	// HoldBack sets whether the system may hold back as many unsent bytes as it likes, or as few as at the beginning.
	HoldBack(much bool)
	// Gather keeps what is written from now on, in room as far as that goes, until Release sends all of it in one piece. After an
	// error the connection is closed, since nobody knows what was taken. Both are for the goroutine that writes.
	Gather(room []byte)
	Release() error
}

type lineKey struct{}

// ConnContext tells requests about their connection, if it is a [Line]. It is for the field of that name of http.Server.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	if line, ok := conn.(Line); ok {
		return context.WithValue(ctx, lineKey{}, line)
	}
	return ctx
}

// lineOf returns the connection of a request, nil where what is written does not go there as it is.
func lineOf(r *http.Request) Line {
	line, _ := r.Context().Value(lineKey{}).(Line)
	if r.TLS != nil || r.ProtoMajor != 1 {
		return nil
	}
	return line
}

func newBuffers() *sync.Pool { return &sync.Pool{New: func() any { return new([chunk]byte) }} }

// ReadFrom sends src. Below it the network takes a file straight from the kernel only as the one limited reader around it, so a
// limit that is there already is shortened, not wrapped.
func (w *response) ReadFrom(src io.Reader) (sent int64, err error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	whole, limited := src.(*io.LimitedReader)
	if !limited {
		whole = &io.LimitedReader{R: src, N: math.MaxInt64}
	}
	file, isFile := whole.R.(*os.File)
	switch {
	case whole.N <= chunk:
		return w.sendSmall(whole)
	case isFile && w.inOneGo():
		return w.sendFile(file, whole)
	}
	return w.sendChunks(whole)
}

// inOneGo tells whether the system may be given all of a body at once, and brings what comes before it on its way. It goes on after a
// deadline in the middle, so it has to be known how much was taken by then: not all systems say it (Windows), and of what goes
// through a buffer, or in pieces with their lengths, nobody can.
func (w *response) inOneGo() bool {
	return w.line != nil && w.Header().Get("Content-Length") != "" && w.control.Flush() == nil
}

// sendSmall sends what fits into a buffer, which is then quicker than to have the system fetch it. A buffer that could not be sent
// is not used again; see sendBody.
func (w *response) sendSmall(whole *io.LimitedReader) (sent int64, err error) {
	buffer := w.buffers.Get().(*[chunk]byte)
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
func (w *response) sendChunks(whole *io.LimitedReader) (sent int64, err error) {
	for whole.N > 0 {
		w.pace.wait()
		part := &io.LimitedReader{R: whole.R, N: min(chunk, whole.N)}
		n, err := io.Copy(w.ResponseWriter, part)
		w.pace.moved(n)
		sent, whole.N, w.bytes = sent+n, whole.N-n, w.bytes+n
		if err != nil || part.N > 0 { // an error, or the end of src
			return sent, err
		}
	}
	return sent, nil
}

// sendFile has the system send a file in one go for as long as the client takes it. In chunks of 32 KiB, or with 64 KiB held back at
// most, it cost twice the processor time that nginx needs. What has gone is looked at several times in the patience with the
// client: a deadline that passes in the middle does no harm, since what was sent is known. The position of the file does not tell:
// where the deadline has passed before the system is asked, more is read than goes out.
func (w *response) sendFile(file *os.File, whole *io.LimitedReader) (sent int64, err error) {
	start, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	w.line.HoldBack(true)
	defer w.line.HoldBack(false)
	untaken := w.untaken()
	for whole.N > 0 {
		w.pace.waitFor(w.pace.patience / looks)
		part := &io.LimitedReader{R: file, N: whole.N}
		n, err := io.Copy(w.ResponseWriter, part)
		before := untaken
		untaken = w.untaken()
		w.pace.moved(n + before - untaken)
		sent, whole.N, w.bytes = sent+n, whole.N-n, w.bytes+n
		switch {
		case w.pace.left > 0 && errors.Is(err, os.ErrDeadlineExceeded):
			if _, err := file.Seek(start+sent, io.SeekStart); err != nil {
				return sent, err
			}
		case err != nil, part.N > 0: // an error, or the end of the file
			return sent, err
		}
	}
	return sent, nil
}

// A body between these sizes, which is all of an answer, is sent together with the head. Go's server sends 4 KiB, then the rest: two
// calls, for which the client wakes twice. A smaller one fits in with the head anyway; for a larger one the copy costs as much.
const (
	gatherFrom = 2 << 10
	gatherTo   = 16 << 10
)

// gathers tells whether p is such a body.
func (w *response) gathers(p []byte) bool {
	return w.line != nil && len(p) >= gatherFrom && len(p) <= gatherTo && w.bytes == 0 &&
		w.Header().Get("Content-Length") == strconv.Itoa(len(p))
}

// sendGathered sends p together with the head.
func (w *response) sendGathered(p []byte) (int, error) {
	room := w.buffers.Get().(*[chunk]byte)
	defer w.buffers.Put(room)
	w.line.Gather(room[:0])
	n, err := w.ResponseWriter.Write(p)
	flushed := w.control.Flush()
	if sent := w.line.Release(); sent != nil { // nothing of it can be said to have come
		return 0, sent
	}
	return n, cmp.Or(err, flushed)
}

// sendBytes has the system take all of p in one go, as sendFile does with files; here the reader's position tells what has gone.
// A page of 100 resources takes two calls instead of five, and a tenth of its time less.
func (w *response) sendBytes(to io.ReaderFrom, p []byte) (sent int, err error) {
	rest := bytes.NewReader(p)
	for idle := 0; rest.Len() > 0 && idle <= looks; idle++ {
		w.pace.waitFor(w.pace.patience / looks)
		_, err = to.ReadFrom(rest)
		n := len(p) - rest.Len() - sent
		w.pace.moved(int64(n))
		sent, w.bytes = sent+n, w.bytes+int64(n)
		if err != nil && (w.pace.left <= 0 || !errors.Is(err, os.ErrDeadlineExceeded)) {
			return sent, err
		}
		if n > 0 {
			idle = 0
		}
	}
	return sent, err
}

// untaken returns how many bytes that were sent have not arrived.
func (w *response) untaken() int64 {
	untaken, err := w.line.Untaken()
	if err != nil {
		return 0 // the connection is broken, and writing to it will tell
	}
	return untaken
}
