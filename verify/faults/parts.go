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
)

// What a writer sends in parts is larger than other files, and comes in pieces of up to so many bytes.
const (
	partsMost = 400 << 10
	pieceMost = 150 << 10
)

// underway is a file that comes in parts. It may have to go on over several restarts.
type underway struct {
	change *change // what it becomes
	url    string
	body   []byte
	told   int64 // how much of it was acknowledged
	sent   int64 // how much of it was sent at most
	made   string
}

// partsCount is what the writers have done in parts since it was last counted.
type partsCount struct {
	acknowledged int64 // announcements and pieces
	takenUp      int64 // goes on after a restart
	found        int64 // had been made when the service ended, and nobody had been told
}

// sendInParts lets writers send some files in parts from now on.
func (w *world) sendInParts() {
	for _, writer := range w.writers {
		writer.parts = true
	}
}

// completeParts has each file come whole that is under way, and looks at everything once more.
func (w *world) completeParts(ctx context.Context, t *trial) error {
	before := w.answered()
	for _, writer := range w.writers {
		for writer.underway != nil {
			if err := writer.sendPiece(ctx); err != nil {
				return err
			}
		}
	}
	if w.answered() == before {
		return nil
	}
	t.add("acknowledged", w.answered()-before)
	w.countParts(t)
	return w.verify(ctx)
}

// countParts adds what came in parts since the last time.
func (w *world) countParts(t *trial) {
	for _, writer := range w.writers {
		countParts(t, writer.inPieces)
		writer.inPieces = partsCount{}
	}
}

func countParts(t *trial, n partsCount) {
	t.add("parts acknowledged", n.acknowledged)
	t.add("uploads taken up again", n.takenUp)
	t.add("uploads found completed", n.found)
}

// file returns a body, and whether it is sent in parts: then it is mostly one for several.
func (w *writer) file() (body []byte, inParts bool) {
	inParts = w.parts && w.random.IntN(4) == 0
	if inParts && w.random.IntN(4) > 0 {
		return content(w.random.Uint64(), w.random.IntN(partsMost)), true
	}
	return w.content(), inParts
}

// announce begins a file that comes in parts. Sometimes its first piece, or all of it, comes along.
func (w *writer) announce(ctx context.Context, c *change, fields map[string]string, body []byte) error {
	first := body
	switch w.random.IntN(4) {
	case 0:
	case 1:
		first = w.piece(body)
	default:
		first = nil
	}
	u := &underway{change: c, body: body, sent: int64(len(first))}
	if u.sent == u.size() {
		w.pending = c // only what has come of it shows what became of an announcement without an answer
	}
	var pairs []string
	for key, value := range fields {
		pairs = append(pairs, key+" "+base64.StdEncoding.EncodeToString([]byte(value)))
	}
	a, err := w.heard(c, func() (answer, error) {
		return w.tus(ctx, http.MethodPost, "/uploads", map[string]string{
			"Upload-Length": strconv.FormatInt(u.size(), 10), "Upload-Metadata": strings.Join(pairs, ","),
		}, w.flow(first))
	})
	if err != nil {
		return err
	}
	w.pending = nil
	if a.status != http.StatusCreated {
		return w.refused(c, a)
	}
	u.url = a.header.Get("Location")
	w.underway = u
	return w.acknowledged(u, a)
}

func (u *underway) size() int64 { return int64(len(u.body)) }

// piece is a beginning of what is left.
func (w *writer) piece(left []byte) []byte { return left[:min(len(left), 1+w.random.IntN(pieceMost))] }

// sendPiece sends the next piece of the file that is under way, the last one perhaps.
func (w *writer) sendPiece(ctx context.Context) error {
	u := w.underway
	piece := w.piece(u.body[u.told:])
	u.sent = u.told + int64(len(piece))
	a, err := w.heard(u.change, func() (answer, error) {
		return w.tus(ctx, http.MethodPatch, u.url, map[string]string{"Upload-Offset": strconv.FormatInt(u.told, 10)}, w.flow(piece))
	})
	if err != nil {
		return err
	}
	if a.status != http.StatusNoContent {
		return violated(u.change.on, "%s: a piece from byte %d was refused: %w", u.change.what, u.told, a.refusal())
	}
	return w.acknowledged(u, a)
}

// acknowledged takes the answer to what was sent of a file. All of it is a resource.
func (w *writer) acknowledged(u *underway, a answer) error {
	w.inPieces.acknowledged++
	at, made := a.header.Get("Upload-Offset"), a.header.Get("Labshelf-Resource")
	if at != strconv.FormatInt(u.sent, 10) || (made != "") != (u.sent == u.size()) {
		return violated(u.change.on, "%s: %d of %d bytes were sent, the answer says %q, and that it has become %q",
			u.change.what, u.sent, u.size(), at, made)
	}
	u.told = u.sent
	if made == "" {
		return nil
	}
	w.answered++
	return w.complete(u, made)
}

// complete makes true what a file that came in parts has become.
func (w *writer) complete(u *underway, made string) error {
	w.underway, u.made = nil, path.Base(made)
	c := u.change
	if c.on == nil {
		c.after.ID = u.made
	} else if c.on.want.ID != u.made {
		return violated(c.on, "%s: it has become %s", c.what, made)
	}
	w.completed = append(w.completed, u)
	w.told(w.done(c, ""))
	return nil
}

// takeUp asks, after a restart, how far the file is that was under way: as far as was acknowledged at least, and no further than it
// was sent; where all had been sent, it may also have become what it had to.
func (w *writer) takeUp(ctx context.Context) error {
	u := w.underway
	if u == nil {
		return nil
	}
	a, err := w.tus(ctx, http.MethodHead, u.url, nil, nil)
	if err != nil {
		return err
	}
	on := u.change.on
	at, err := strconv.ParseInt(a.header.Get("Upload-Offset"), 10, 64)
	if a.status != http.StatusOK || err != nil || at < u.told || at > u.sent {
		return violated(on, "LOST: %s: %d of %d bytes were acknowledged, %d were sent, and now there are %q, status %d",
			u.change.what, u.told, u.size(), u.sent, a.header.Get("Upload-Offset"), a.status)
	}
	made := a.header.Get("Labshelf-Resource")
	if (made != "") != (at == u.size()) {
		return violated(on, "%s: %d of %d bytes are there, and it has become %q", u.change.what, at, u.size(), made)
	}
	u.told, u.sent = at, at
	if made == "" {
		w.inPieces.takenUp++
		return nil
	}
	w.inPieces.found++
	before := ""
	if on != nil {
		before = on.etag
	}
	if err := w.complete(u, made); err != nil || on == nil {
		return err
	}
	return w.adopt(ctx, on, before)
}

// verifyCompleted sees that who asks again for a file that came in parts is told the same.
func (w *writer) verifyCompleted(ctx context.Context) error {
	for _, u := range w.completed {
		a, err := w.tus(ctx, http.MethodHead, u.url, nil, nil)
		if err != nil {
			return err
		}
		at, made := a.header.Get("Upload-Offset"), a.header.Get("Labshelf-Resource")
		if a.status != http.StatusOK || at != strconv.FormatInt(u.size(), 10) || path.Base(made) != u.made {
			return violated(nil, "LOST: %s has become %s; asked again: status %d, %q bytes, %q", u.change.what, u.made, a.status, at, made)
		}
	}
	w.completed = nil
	return nil
}

// tus sends a request of the protocol by which files come in parts.
func (c *caller) tus(ctx context.Context, method, url string, header map[string]string, piece io.Reader) (answer, error) {
	all := http.Header{"Tus-Resumable": {"1.0.0"}}
	for name, value := range header {
		all.Set(name, value)
	}
	if piece != nil {
		all.Set("Content-Type", "application/offset+octet-stream")
	}
	return c.exchange(ctx, method, url, all, piece)
}

// flow is a piece on its way: mostly at once, sometimes with pauses, so that a crash comes in its middle.
func (w *writer) flow(piece []byte) io.Reader {
	switch {
	case len(piece) == 0:
		return nil
	case w.random.IntN(4) > 0:
		return bytes.NewReader(piece)
	}
	return &halting{bytes.NewReader(piece)}
}

// halting gives a little at a time.
type halting struct{ io.Reader }

func (h *halting) Read(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return h.Reader.Read(p[:min(len(p), 8<<10)])
}
