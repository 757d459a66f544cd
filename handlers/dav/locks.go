package dav

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

	"labshelf/metadata"
)

const (
	maxLocks       = 10_000
	maxUserLocks   = 1_000
	defaultTimeout = 10 * time.Minute
	maxTimeout     = time.Hour
)

// lock is a write lock of one path, and where it is infinite of everything below. Its fields but
// expires never change.
type lock struct {
	token            string // an absolute URI
	path             string // of the drive, without slashes at its ends, composed: names in other forms are the same
	infinite, shared bool
	owner            string      // XML, as it was sent
	root             string      // the address of the path
	user, key        metadata.ID // that took it
	timeout          time.Duration
	expires          time.Time
}

// composed returns a path in the form in which locks have it: a lock of a name binds all of its
// forms.
func composed(path string) string { return norm.NFC.String(path) }

// covers tells whether the lock is one of a path.
func (l *lock) covers(path string) bool {
	return l.path == path || l.infinite && within(path, l.path)
}

// within tells whether a path is below a folder.
func within(path, folder string) bool {
	return folder == "" && path != "" || len(path) > len(folder) && path[len(folder)] == '/' && strings.HasPrefix(path, folder)
}

// parentOf is the folder of a path.
func parentOf(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// locks are all locks, in memory: they bind requests below /dav/ only. Safe for concurrent use.
type locks struct {
	mu      sync.Mutex
	byToken map[string]*lock
	users   map[metadata.ID]int
}

func newLocks() *locks {
	return &locks{byToken: map[string]*lock{}, users: map[metadata.ID]int{}}
}

// add adds a lock with a new token. in the way: a lock of the path, above or below it excludes it.
// full: there are too many.
func (ls *locks) add(l lock, now time.Time) (added *lock, inTheWay *lock, full bool) {
	l.path = composed(l.path)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, other := range ls.byToken {
		if !now.Before(other.expires) {
			ls.drop(other)
			continue
		}
		overlap := other.covers(l.path) || l.covers(other.path)
		if overlap && !(l.shared && other.shared) {
			return nil, other, false
		}
	}
	if len(ls.byToken) >= maxLocks || ls.users[l.user] >= maxUserLocks {
		return nil, nil, true
	}
	var random [16]byte
	rand.Read(random[:]) // never fails
	random[6], random[8] = random[6]&0x0f|0x40, random[8]&0x3f|0x80
	text := hex.EncodeToString(random[:])
	l.token = "urn:uuid:" + text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
	l.expires = now.Add(l.timeout)
	ls.byToken[l.token] = &l
	ls.users[l.user]++
	shown := l
	return &shown, nil, false
}

// drop removes a lock; ls.mu is held.
func (ls *locks) drop(l *lock) {
	delete(ls.byToken, l.token)
	if ls.users[l.user]--; ls.users[l.user] == 0 {
		delete(ls.users, l.user)
	}
}

// of returns the locks of a path; below: and of what is below it.
func (ls *locks) of(path string, below bool, now time.Time) (found []lock) {
	path = composed(path)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, l := range ls.byToken {
		switch {
		case !now.Before(l.expires):
			ls.drop(l)
		case l.covers(path), below && within(l.path, path):
			found = append(found, *l)
		}
	}
	return found
}

// any tells whether there is a lock at all.
func (ls *locks) any() bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return len(ls.byToken) > 0
}

// refresh begins the time of a lock anew.
func (ls *locks) refresh(token string, timeout time.Duration, now time.Time) (refreshed lock, ok bool) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l, ok := ls.byToken[token]
	if !ok || !now.Before(l.expires) {
		return refreshed, false
	}
	l.timeout, l.expires = timeout, now.Add(timeout)
	return *l, true
}

// remove removes a lock, if it is one of the path.
func (ls *locks) remove(token, path string) (l lock, ok bool) {
	path = composed(path)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	known, ok := ls.byToken[token]
	if !ok || !known.covers(path) {
		return l, false
	}
	ls.drop(known)
	return *known, true
}

// end removes locks.
func (ls *locks) end(tokens []string) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, token := range tokens {
		if l, ok := ls.byToken[token]; ok {
			ls.drop(l)
		}
	}
}

// forget removes the locks of a path that is there no more, and of what was below it.
func (ls *locks) forget(path string) {
	path = composed(path)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, l := range ls.byToken {
		if l.path == path || within(l.path, path) {
			ls.drop(l)
		}
	}
}
