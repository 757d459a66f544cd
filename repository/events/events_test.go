package events_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs/blobstest"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/events"
	"labshelf/repository/repositorytest"
)

// world is a repository in memory, in a bubble where waiting takes no real time.
type world struct {
	*repositorytest.World
	meta *metadatatest.Memory
}

// inBubble runs a test with a repository whose only set is empty.
func inBubble(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{meta: metadatatest.NewMemory(time.Now)}
		w.World = repositorytest.NewWorld(t, w.open(), 0)
		defer func() { w.Service.Close() }()
		test(t, w)
	})
}

func (w *world) open() *repository.Service {
	return repository.New(w.meta, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10})
}

// member creates a user with a key, and with a role in the dataspace unless role is "".
func (w *world) member(name, role string) (auth.Principal, metadata.Privilege) {
	w.T.Helper()
	ctx := w.T.Context()
	user, err := w.Service.Users.Create(ctx, w.Admin, containers.NewUser{Username: name})
	w.OK(err)
	_, key, err := w.Service.Users.CreateKey(ctx, w.Admin, user.ID.String(), containers.KeyFields{})
	w.OK(err)
	p, err := w.Service.Credentials.Authenticate(ctx, key, auth.Origin{})
	w.OK(err)
	if role == "" {
		return p, metadata.Privilege{}
	}
	v, _, err := w.Service.Users.Grant(ctx, w.Admin, containers.NewPrivilege{UserID: user.ID.String(), DataspaceID: w.Space.ID.String(), Role: repositorytest.RoleOf(role)})
	w.OK(err)
	return p, v
}

// follower reads a stream in the background.
type follower struct {
	w      *world
	cancel context.CancelFunc
	done   chan struct{}
	got    []events.Event
	beats  int // batches without events
	last   string
	err    error
}

// follow starts to follow. Its results may be read after all goroutines of the bubble have blocked.
func (w *world) follow(p auth.Principal, after string) *follower {
	w.T.Helper()
	ctx, cancel := context.WithCancel(w.T.Context())
	st, err := w.Service.Events.Open(ctx, p, after)
	w.OK(err)
	f := &follower{w: w, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		defer st.Close()
		for f.err == nil {
			var b events.Batch
			if b, f.err = st.Next(ctx); f.err != nil {
				return
			}
			if f.got = append(f.got, b.Events...); len(b.Events) == 0 {
				f.beats++
			}
			f.last = b.ID
		}
	}()
	w.T.Cleanup(cancel)
	f.settle()
	return f
}

// settle waits until the stream has sent everything pending, including the interval between two
// reads of the log.
func (f *follower) settle() {
	synctest.Wait()
	time.Sleep(time.Second)
	synctest.Wait()
}

// heard calls settle, and returns the kinds of the events since the last call.
func (f *follower) heard() string {
	f.settle()
	var kinds []string
	for _, e := range f.got {
		kinds = append(kinds, e.Kind)
	}
	f.got = nil
	return strings.Join(kinds, " ")
}

func (f *follower) want(kinds string) {
	f.w.T.Helper()
	if got := f.heard(); got != kinds {
		f.w.T.Errorf("received %q, want %q", got, kinds)
	}
}

// TestSubscribers makes all kinds of changes while a member, a user without a role and a sysadmin
// follow.
func TestSubscribers(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		member, _ := w.member("member", "member")
		stranger, _ := w.member("stranger", "")
		m, s, a := w.follow(member, ""), w.follow(stranger, ""), w.follow(w.Admin, "")
		r := w.Upload(w.Sets[0], "run.csv")
		m.settle()
		if want := (events.Event{ID: m.last, Kind: "resource.create", Object: audit.Object{Kind: audit.Resource, ID: r.ID}, Dataspace: w.Space.ID, Set: w.Sets[0].ID}); !slices.Equal(m.got, []events.Event{want}) {
			t.Errorf("got %+v, want %+v", m.got, want)
		}
		w.Replace(r, "other")
		m.want("resource.create resource.replace")
		_, _, err := w.Service.Users.CreateKey(ctx, w.Admin, stranger.UserID.String(), containers.KeyFields{})
		w.OK(err)
		_, err = w.Service.Users.Create(ctx, w.Admin, containers.NewUser{Username: "other"})
		w.OK(err)
		m.want("")
		s.want("key.create")
		_, err = w.Service.Dataspaces.Update(ctx, w.Admin, w.Space.ID.String(), containers.DataspaceFields{Visibility: new(metadata.Public)}, core.Match{})
		w.OK(err)
		w.Upload(w.Sets[0], "for all")
		m.want("dataspace.update resource.create")
		s.want("dataspace.update resource.create")
		a.want("resource.create resource.replace key.create user.create dataspace.update resource.create")
	})
}

// TestRevocationEndsEvents: a revoked role ends access to later events, and to events that have not
// been read yet. A revoked key ends the stream.
func TestRevocationEndsEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		member, role := w.member("member", "member")
		f := w.follow(member, "")
		w.Upload(w.Sets[0], "1")
		f.want("resource.create")
		from := f.last
		f.cancel()
		<-f.done
		w.Upload(w.Sets[0], "2")
		_, err := w.Service.Users.Revoke(ctx, w.Admin, role.ID.String(), repositorytest.Always)
		w.OK(err)
		f = w.follow(member, from)
		w.Upload(w.Sets[0], "3")
		f.want("")
		w.OK(w.Service.Users.RevokeKey(ctx, w.Admin, member.UserID.String(), member.KeyID.String(), false))
		<-f.done
		repositorytest.WantCode(t, f.err, errs.CodeUnauthenticated)
		if _, err := w.Service.Events.Open(ctx, member, ""); err == nil {
			t.Error("a stream was opened with a revoked key")
		}
		other, _ := w.member("other", "member")
		f = w.follow(other, "")
		_, err = w.Service.Users.Delete(ctx, w.Admin, other.UserID.String(), repositorytest.Always)
		w.OK(err)
		<-f.done
		repositorytest.WantCode(t, f.err, errs.CodeUnauthenticated)
	})
}

// TestExpiredKey: an expired key ends the stream at the next heartbeat.
func TestExpiredKey(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		_, key, err := w.Service.Users.CreateKey(t.Context(), w.Admin, "me", containers.KeyFields{Expires: new(metadata.Stamp(time.Now().Add(time.Minute).Truncate(time.Second).UnixMicro()))})
		w.OK(err)
		p, err := w.Service.Credentials.Authenticate(t.Context(), key, auth.Origin{})
		w.OK(err)
		f, began := w.follow(p, ""), time.Now()
		<-f.done
		repositorytest.WantCode(t, f.err, errs.CodeUnauthenticated)
		if took := time.Since(began); f.beats < 3 || took > time.Minute+events.Heartbeat {
			t.Errorf("it ended after %s and %d heartbeats", took, f.beats)
		}
	})
}

// TestResumption: a stream continues where another one ended, also across a restart of the service.
// A heartbeat moves the position past events that the caller may not see.
func TestResumption(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		member, _ := w.member("member", "member")
		f := w.follow(member, "")
		var want, got []string
		for i := range 30 {
			r := w.Upload(w.Sets[0], fmt.Sprint(i))
			want = append(want, r.ID.String())
			if i%10 != 5 {
				continue
			}
			if f.settle(); i == 15 {
				w.Service.Close()
				<-f.done
				repositorytest.WantCode(t, f.err, errs.CodeUnavailable)
				w.Service = w.open()
			} else {
				f.cancel()
				<-f.done
			}
			for _, e := range f.got {
				got = append(got, e.Object.ID.String())
			}
			want = append(want, w.Upload(w.Sets[0], "between").ID.String())
			f = w.follow(member, f.last)
		}
		f.settle()
		for _, e := range f.got {
			got = append(got, e.Object.ID.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("received events of %d resources, want %d in order", len(got), len(want))
		}
		before := f.last
		_, err := w.Service.Users.Create(t.Context(), w.Admin, containers.NewUser{Username: "unheard"})
		w.OK(err)
		time.Sleep(events.Heartbeat + time.Second)
		synctest.Wait()
		if f.last == before || f.beats == 0 {
			t.Errorf("after %d heartbeats the position is still %s", f.beats, f.last)
		}
	})
}

// TestReload: for an unusable id, the stream begins with one Reload event and continues from now.
func TestReload(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		f := w.follow(w.Admin, "")
		epoch, number, _ := strings.Cut(f.last, ".")
		f.cancel()
		for name, after := range map[string]string{
			"another epoch": strings.Repeat("0", 32) + "." + number, "the future": epoch + ".99", "no number": epoch, "nonsense": "x", "negative": epoch + ".-1",
		} {
			f := w.follow(w.Admin, after)
			f.want("reload")
			if w.Upload(w.Sets[0], name); f.heard() != "resource.create" {
				t.Errorf("after the reload because of %s, no event was received", name)
			}
			f.cancel()
		}
		w.Service.Close()
		_, err := metadata.BeginEpoch(t.Context(), w.meta, time.Now())
		w.OK(err)
		w.Service = w.open()
		f = w.follow(w.Admin, epoch+"."+number)
		f.want("reload")
		if strings.HasPrefix(f.last, epoch) {
			t.Errorf("in another epoch the id is %s", f.last)
		}
		present, _, _ := strings.Cut(f.last, ".")
		w.follow(w.Admin, present+"."+number).want("reload") // after the entry with which the epoch begins
	})
}

// TestTooFarBack: events more than 10,000 entries back are not sent.
func TestTooFarBack(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		f := w.follow(w.Admin, "")
		from := f.last
		f.cancel()
		<-f.done
		grow := func(entries int) {
			w.OK(w.meta.Update(t.Context(), func(tx *metadata.Tx) error {
				for range entries {
					if _, err := tx.Log(audit.Entry{Action: audit.PurgeRun, Stamp: int64(tx.Stamp())}, "", ""); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		grow(events.MaxBehind)
		f = w.follow(w.Admin, from)
		f.settle()
		if len(f.got) != events.MaxBehind || f.got[0].Kind != "purge.run" {
			t.Errorf("from %d entries back, received %d events", events.MaxBehind, len(f.got))
		}
		f.cancel()
		<-f.done
		grow(1)
		w.follow(w.Admin, from).want("reload")
	})
}

// TestBounds: the number of streams of a user, and of the service, is limited. Closing a stream
// makes room.
func TestBounds(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		var all []*events.Stream
		fill := func(p auth.Principal) (err error) {
			for err == nil {
				var st *events.Stream
				if st, err = w.Service.Events.Open(ctx, p, ""); err == nil {
					all = append(all, st)
				}
			}
			return err
		}
		kind := func(err error) errs.Kind {
			repositorytest.WantCode(t, err, errs.CodeTooManyStreams)
			known, _ := errors.AsType[*errs.Error](err)
			return known.Kind
		}
		if err := fill(w.Admin); kind(err) != errs.TooManyRequests || len(all) != events.MaxPerUser {
			t.Errorf("a user has %d streams, then %v", len(all), err)
		}
		var full error
		for i := 0; len(all) < events.MaxStreams; i++ {
			p, _ := w.member(fmt.Sprint("user-", i), "")
			full = fill(p)
		}
		if kind(full) != errs.Unavailable {
			t.Errorf("a service with %d streams answers %v", len(all), full)
		}
		all[0].Close()
		if st, err := w.Service.Events.Open(ctx, w.Admin, ""); err != nil {
			t.Errorf("after one was closed: %v", err)
		} else {
			st.Close()
		}
		for _, st := range all[1:] {
			st.Close()
		}
		if n := w.Service.Events.Count(); n != 0 {
			t.Errorf("%d streams remain", n)
		}
	})
}
