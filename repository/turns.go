package repository

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"labshelf/auth"
	"labshelf/errs"
	"labshelf/metadata"
)

const (
	// turnPatience is how long somebody waits for his turn at a transfer.
	turnPatience = 5 * time.Second
	// turnIdle is for how long nothing may come from whoever has the turn while another one waits: a connection that broke
	// without a word must not keep its own client from going on over another one.
	turnIdle = time.Second
	turnLook = 50 * time.Millisecond
)

// turns gives everybody who is at a transfer his turn: there is one at a time.
type turns struct {
	mu   sync.Mutex
	held map[metadata.ID]*turnAt
}

func newTurns() *turns { return &turns{held: map[metadata.ID]*turnAt{}} }

// turnAt is the turn of somebody at a transfer.
type turnAt struct {
	turns *turns
	id    metadata.ID
	stop  func() // has what he waits for end
	since time.Time
	moved atomic.Int64 // how long after that something has come from him last
	ended chan struct{}
}

// take waits for the turn, and ends that of somebody from whom nothing comes. Stop is called, perhaps several times, to end this
// one in its turn. The caller ends it with give.
func (t *turns) take(ctx context.Context, id metadata.ID, stop func()) (*turnAt, error) {
	for until := time.Now().Add(turnPatience); ; {
		mine, other := t.try(id, stop)
		if mine != nil {
			return mine, nil
		}
		if other.idle() > turnIdle {
			other.stop()
		}
		select {
		case <-other.ended:
		case <-time.After(turnLook):
		case <-ctx.Done():
			return nil, storageError(ctx.Err())
		}
		if time.Now().After(until) {
			return nil, &errs.Error{Kind: errs.Locked, Code: errs.CodeLocked, Message: "another request is at this upload; try again when it is done"}
		}
	}
}

// try returns the turn, or else whose it is.
func (t *turns) try(id metadata.ID, stop func()) (mine, other *turnAt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if other = t.held[id]; other != nil {
		return nil, other
	}
	mine = &turnAt{turns: t, id: id, stop: stop, since: time.Now(), ended: make(chan struct{})}
	t.held[id] = mine
	return mine, nil
}

func (t *turnAt) give() {
	t.turns.mu.Lock()
	defer t.turns.mu.Unlock()
	delete(t.turns.held, t.id)
	close(t.ended)
}

// idle is for how long nothing has come.
func (t *turnAt) idle() time.Duration { return time.Since(t.since) - time.Duration(t.moved.Load()) }

// watch is a body whose progress counts.
func (t *turnAt) watch(body io.Reader) io.Reader { return watched{body, t} }

type watched struct {
	io.Reader
	turn *turnAt
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.turn.moved.Store(int64(time.Since(w.turn.since)))
	return n, err
}

// atTransfer waits for the turn at a transfer of the caller, which the caller of this gives back. What it returns is on stable storage,
// also that there is no such transfer: a client may forget what he has of the file.
func (s *Service) atTransfer(ctx context.Context, p auth.Principal, text string, stop func()) (metadata.Transfer, *turnAt, error) {
	id, ok := metadata.ParseID(text)
	if !ok {
		return metadata.Transfer{}, nil, uploadNotFound()
	}
	if _, err := s.ownTransfer(ctx, p, id); err != nil { // before strangers make others wait
		return metadata.Transfer{}, nil, err
	}
	turn, err := s.turns.take(ctx, id, stop)
	if err != nil {
		return metadata.Transfer{}, nil, err
	}
	t, err := s.ownTransfer(ctx, p, id)
	if err != nil {
		turn.give()
		return metadata.Transfer{}, nil, err
	}
	return t, turn, nil
}

func uploadNotFound() error {
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeUploadNotFound, Message: "there is no such upload of yours"}
}

func (s *Service) ownTransfer(ctx context.Context, p auth.Principal, id metadata.ID) (t metadata.Transfer, err error) {
	err = s.viewDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		t, err = tx.Transfers.Get(id)
		switch {
		case errors.Is(err, metadata.ErrNotFound), err == nil && t.UserID != p.UserID:
			return uploadNotFound()
		case err == nil && t.Expires <= s.now():
			return &errs.Error{Kind: errs.Gone, Code: errs.CodeUploadExpired, Message: "this upload has expired; begin it anew"}
		}
		return err
	})
	return t, err
}
