package dav

import (
	"context"
	"encoding/json"
	"time"

	"labshelf/metadata"
	"labshelf/repository/folders"
)

// If other nodes serve the drive, too, the locks are rows, each with a lock as JSON. A request
// reads them when it arrives. Each change is one transaction, so that two nodes never grant locks
// that exclude each other.

// storedLock is the JSON of a lock in a row, without its token and its expiry.
type storedLock struct {
	Path     string        `json:"path"`
	Infinite bool          `json:"infinite,omitempty"`
	Shared   bool          `json:"shared,omitempty"`
	Owner    string        `json:"owner,omitempty"`
	Root     string        `json:"root"`
	User     metadata.ID   `json:"user"`
	Key      metadata.ID   `json:"key"`
	Timeout  time.Duration `json:"timeout"`
}

// locksNow returns the locks of all nodes.
func (d *Drive) locksNow(ctx context.Context) (*locks, error) {
	if !d.repo.Drive.SharesDriveLocks() {
		return d.locks, nil
	}
	rows, err := d.repo.Drive.DriveLocks(ctx)
	return locksOf(rows), err
}

// changeLocks changes the locks of all nodes. change may run more than once. now is the clock that
// decides their expiry.
func (d *Drive) changeLocks(ctx context.Context, change func(ls *locks, now time.Time)) error {
	if !d.repo.Drive.SharesDriveLocks() {
		change(d.locks, time.Now())
		return nil
	}
	return d.repo.Drive.ChangeDriveLocks(ctx, func(now metadata.Stamp, rows []folders.DriveLock) []folders.DriveLock {
		ls := locksOf(rows)
		change(ls, time.UnixMicro(int64(now)))
		return ls.rows()
	})
}

// forgetLocks removes the locks of a path that has just become empty, and of everything below it. A
// failure does not undo the request: the locks then end at their timeout.
func (d *Drive) forgetLocks(r *request) {
	_ = d.changeLocks(r.Context(), func(ls *locks, _ time.Time) { ls.forget(r.path) })
}

// locksOf decodes locks from rows. It skips rows that it cannot decode, which another version of
// the program has written, and owners that exceed the bounds of this version.
func locksOf(rows []folders.DriveLock) *locks {
	ls := newLocks()
	for _, row := range rows {
		var s storedLock
		if json.Unmarshal([]byte(row.Text), &s) != nil {
			continue
		}
		s.Owner, _ = content(s.Owner, maxOwner)
		ls.byToken[row.Token] = &lock{
			token: row.Token, path: s.Path, infinite: s.Infinite, shared: s.Shared, owner: s.Owner, root: s.Root, user: s.User, key: s.Key, timeout: s.Timeout, expires: time.UnixMicro(int64(row.Ends)),
		}
		ls.users[s.User]++
	}
	return ls
}

// rows encodes the locks as rows.
func (ls *locks) rows() (all []folders.DriveLock) {
	for token, l := range ls.byToken {
		text, err := json.Marshal(storedLock{l.path, l.infinite, l.shared, l.owner, l.root, l.user, l.key, l.timeout})
		if err != nil {
			panic(err) // cannot fail: only strings, numbers and an id
		}
		all = append(all, folders.DriveLock{Token: token, Text: string(text), Ends: metadata.Stamp(l.expires.UnixMicro())})
	}
	return all
}
