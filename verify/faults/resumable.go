package faults

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"labshelf/verify/e2e"
)

// The maximum sizes of a resumable upload and of a chunk, in bytes.
const (
	maxUpload = 400 << 10
	maxChunk  = 150 << 10
)

// pendingUpload is an unfinished resumable upload, which may continue over several restarts.
type pendingUpload struct {
	change *change // the resulting change
	url    string
	body   []byte
	acked  int64 // acknowledged bytes
	sent   int64 // maximum of sent bytes
	made   string
}

// chunkCount counts what happened to resumable uploads since the last count.
type chunkCount struct {
	acknowledged int64 // announcements and chunks
	resumed      int64 // continued after a restart
	found        int64 // completed before the kill, but not acknowledged
}

// useUploads makes the writers send some files as resumable uploads from now on.
func (w *workload) useUploads() {
	for _, writer := range w.writers {
		writer.uploads = true
	}
}

// completeUploads completes the pending uploads, and verifies all objects again.
func (w *workload) completeUploads(ctx context.Context, t *trial) error {
	before := w.answered()
	for _, writer := range w.writers {
		for writer.pendingUpload != nil {
			if err := writer.sendChunk(ctx); err != nil {
				return err
			}
		}
	}
	if w.answered() == before {
		return nil
	}
	t.add("acknowledged", w.answered()-before)
	w.countUploads(t)
	return w.verify(ctx)
}

// countUploads adds the counts of the writers to the row, and resets them.
func (w *workload) countUploads(t *trial) {
	for _, writer := range w.writers {
		countUploads(t, writer.chunks)
		writer.chunks = chunkCount{}
	}
}

func countUploads(t *trial, n chunkCount) {
	t.add("parts acknowledged", n.acknowledged)
	t.add("uploads resumed", n.resumed)
	t.add("uploads found completed", n.found)
}

// file returns a body, and whether to send it as a resumable upload. Most resumable uploads take
// several chunks.
func (w *writer) file() (body []byte, resumable bool) {
	resumable = w.uploads && w.random.IntN(4) == 0
	if resumable && w.random.IntN(4) > 0 {
		return content(w.random.Uint64(), w.random.IntN(maxUpload)), true
	}
	return w.content(), resumable
}

// announce creates a resumable upload, sometimes with its first chunk or with the whole body.
func (w *writer) announce(ctx context.Context, c *change, fields map[string]string, body []byte) error {
	first := body
	switch w.random.IntN(4) {
	case 0:
	case 1:
		first = w.chunk(body)
	default:
		first = nil
	}
	u := &pendingUpload{change: c, body: body, sent: int64(len(first))}
	if u.sent == u.size() {
		w.pending = c // without an answer, only the resource shows whether it was accepted
	}
	var pairs []string
	for key, value := range fields {
		pairs = append(pairs, key+" "+base64.StdEncoding.EncodeToString([]byte(value)))
	}
	a, err := w.heard(c, func() (e2e.Answer, error) {
		return tus(ctx, w.Client, http.MethodPost, "/uploads", map[string]string{
			"Upload-Length": strconv.FormatInt(u.size(), 10), "Upload-Metadata": strings.Join(pairs, ","),
		}, w.chunkReader(first))
	})
	if err != nil {
		return err
	}
	w.pending = nil
	if a.Status != http.StatusCreated {
		return w.refused(c, a)
	}
	u.url = a.Header.Get("Location")
	w.pendingUpload = u
	return w.acknowledged(u, a)
}

func (u *pendingUpload) size() int64 { return int64(len(u.body)) }

// chunk returns the next chunk of left, with a random length.
func (w *writer) chunk(left []byte) []byte { return left[:min(len(left), 1+w.random.IntN(maxChunk))] }

// sendChunk sends the next chunk of the pending upload, which may be the last one.
func (w *writer) sendChunk(ctx context.Context) error {
	u := w.pendingUpload
	chunk := w.chunk(u.body[u.acked:])
	u.sent = u.acked + int64(len(chunk))
	a, err := w.heard(u.change, func() (e2e.Answer, error) {
		return tus(ctx, w.Client, http.MethodPatch, u.url, map[string]string{"Upload-Offset": strconv.FormatInt(u.acked, 10)}, w.chunkReader(chunk))
	})
	if err != nil {
		return err
	}
	if a.Status != http.StatusNoContent {
		return violated(u.change.on, "%s: a chunk from byte %d was refused: %w", u.change.what, u.acked, a.Problem())
	}
	return w.acknowledged(u, a)
}

// acknowledged handles the answer to a chunk. After the last chunk, the answer names a resource.
func (w *writer) acknowledged(u *pendingUpload, a e2e.Answer) error {
	w.chunks.acknowledged++
	at, made := a.Header.Get("Upload-Offset"), a.Header.Get("Labshelf-Resource")
	if at != strconv.FormatInt(u.sent, 10) || (made != "") != (u.sent == u.size()) {
		return violated(u.change.on, "%s: %d of %d bytes were sent, but the answer has the offset %q and the resource %q",
			u.change.what, u.sent, u.size(), at, made)
	}
	u.acked = u.sent
	if made == "" {
		return nil
	}
	w.answered++
	return w.complete(u, made)
}

// complete applies the change of a completed upload.
func (w *writer) complete(u *pendingUpload, made string) error {
	w.pendingUpload, u.made = nil, path.Base(made)
	c := u.change
	if c.on == nil {
		c.after.ID = u.made
	} else if c.on.want.ID != u.made {
		return violated(c.on, "%s: the upload has changed %s", c.what, made)
	}
	w.completed = append(w.completed, u)
	w.observe(w.done(c, ""))
	return nil
}

// resume reads the offset of the pending upload after a restart. It must be at least the
// acknowledged and at most the sent bytes. If all bytes were sent, the resource may exist as well.
func (w *writer) resume(ctx context.Context) error {
	u := w.pendingUpload
	if u == nil {
		return nil
	}
	a, err := tus(ctx, w.Client, http.MethodHead, u.url, nil, nil)
	if err != nil {
		return err
	}
	on := u.change.on
	at, err := strconv.ParseInt(a.Header.Get("Upload-Offset"), 10, 64)
	if a.Status != http.StatusOK || err != nil || at < u.acked || at > u.sent {
		return violated(on, "LOST: %s: %d of %d bytes were acknowledged, %d were sent, but the offset is now %q, status %d",
			u.change.what, u.acked, u.size(), u.sent, a.Header.Get("Upload-Offset"), a.Status)
	}
	made := a.Header.Get("Labshelf-Resource")
	if (made != "") != (at == u.size()) {
		return violated(on, "%s: %d of %d bytes were received, but the resource is %q", u.change.what, at, u.size(), made)
	}
	u.acked, u.sent = at, at
	if made == "" {
		w.chunks.resumed++
		return nil
	}
	w.chunks.found++
	before := ""
	if on != nil {
		before = on.etag
	}
	if err := w.complete(u, made); err != nil || on == nil {
		return err
	}
	return w.adopt(ctx, on, before)
}

// verifyCompleted checks that a completed upload still returns its resource.
func (w *writer) verifyCompleted(ctx context.Context) error {
	for _, u := range w.completed {
		a, err := tus(ctx, w.Client, http.MethodHead, u.url, nil, nil)
		if err != nil {
			return err
		}
		at, made := a.Header.Get("Upload-Offset"), a.Header.Get("Labshelf-Resource")
		if a.Status != http.StatusOK || at != strconv.FormatInt(u.size(), 10) || path.Base(made) != u.made {
			return violated(nil, "LOST: %s created %s, but a later request returns status %d, %q bytes, %q", u.change.what, u.made, a.Status, at, made)
		}
	}
	w.completed = nil
	return nil
}

// tus sends a request of the tus protocol for resumable uploads.
func tus(ctx context.Context, c *e2e.Client, method, url string, header map[string]string, chunk io.Reader) (e2e.Answer, error) {
	all := http.Header{"Tus-Resumable": {"1.0.0"}}
	for name, value := range header {
		all.Set(name, value)
	}
	if chunk != nil {
		all.Set("Content-Type", "application/offset+octet-stream")
	}
	return c.Exchange(ctx, method, url, all, chunk)
}

// chunkReader returns a reader of a chunk. Some readers are slow, so that a crash occurs during the
// chunk.
func (w *writer) chunkReader(chunk []byte) io.Reader {
	switch {
	case len(chunk) == 0:
		return nil
	case w.random.IntN(4) > 0:
		return bytes.NewReader(chunk)
	}
	return &slowReader{bytes.NewReader(chunk)}
}

// slowReader returns 8 KiB per millisecond.
type slowReader struct{ io.Reader }

func (h *slowReader) Read(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return h.Reader.Read(p[:min(len(p), 8<<10)])
}
