package repository_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/blobs/blobstest"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
)

// TestSessionFromMemory: a session that is known costs no transaction and no allocation either.
func TestSessionFromMemory(t *testing.T) {
	meta := &counting{Memory: metadatatest.NewMemory(time.Now)}
	svc := repository.New(meta, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10})
	h := populated(t, svc, 1)
	_, key, err := svc.CreateKey(t.Context(), h.admin, "me", nil)
	h.ok(err)
	_, token, ends, err := svc.SignIn(t.Context(), key, "")
	h.ok(err)
	if age := time.Until(ends.Time()); age < 29*24*time.Hour || age > 31*24*time.Hour {
		t.Errorf("it lasts %s", age)
	}
	ctx := t.Context()
	p, err := svc.AuthenticateSession(ctx, token)
	h.ok(err)
	if p.UserID != h.admin.UserID || p.Session == (auth.SessionDigest{}) {
		t.Errorf("somebody else: %+v", p)
	}
	var views int64
	for before := int64(-1); before != views; time.Sleep(20 * time.Millisecond) { // what runs in the background looks around first
		before, views = views, meta.views.Load()
	}
	if got := testing.AllocsPerRun(1000, func() { _, err = svc.AuthenticateSession(ctx, token) }); got != 0 || err != nil {
		t.Errorf("%v allocations, %v", got, err)
	}
	if got := meta.views.Load() - views; got != 0 {
		t.Errorf("%d transactions", got)
	}
	for _, other := range []string{"", "x", key, token + "A", token[:len(token)-1], token[:len(token)-2] + "**", "lss_" + strings.Repeat("A", 64)} {
		_, err := svc.AuthenticateSession(ctx, other)
		h.refused(err, errs.CodeUnauthenticated)
		if !errors.Is(err, repository.ErrUnknownKey) {
			t.Errorf("%q: %v", other, err)
		}
		h.ok(svc.SignOut(ctx, other))
	}
	_, err = svc.AuthenticateSession(ctx, token)
	h.ok(err)
}

// forgetful is a store that can no longer promise what it holds.
type forgetful struct {
	metadata.Store
	lost bool
}

func (f *forgetful) ViewDurable(ctx context.Context, fn func(*metadata.Tx) error) error {
	if f.lost {
		return metadata.ErrNotDurable
	}
	return f.Store.ViewDurable(ctx, fn)
}

// TestSignedOutForGood: that a session is gone is said only when a power cut cannot bring it back.
func TestSignedOutForGood(t *testing.T) {
	t.Parallel()
	meta := &forgetful{Store: metadatatest.NewMemory(time.Now)}
	svc := repository.NewHeld(meta, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10})
	h := populated(t, svc, 1)
	_, key, err := svc.CreateKey(t.Context(), h.admin, "me", nil)
	h.ok(err)
	_, token, _, err := svc.SignIn(t.Context(), key, "")
	h.ok(err)
	h.ok(svc.SignOut(t.Context(), token))
	meta.lost = true
	if err := svc.SignOut(t.Context(), token); !errors.Is(err, metadata.ErrNotDurable) {
		t.Errorf("signed out: %v", err)
	}
}
