// Package demo makes a small repository that looks as if a lab had worked with it for some weeks.
// It has dataspaces, sets, files of many kinds, people with different roles, and deleted files.
// Only "labshelf demo" uses it.
package demo

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"path"
	"sync/atomic"
	"time"

	"labshelf/auth"
	"labshelf/formats/descriptive"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

//go:embed files
var samples embed.FS

// Clock is the clock of the repository while Fill runs. It begins in the past, and each change
// takes some time, so that the days of the history differ. Goroutines of the repository read it
// concurrently.
type Clock struct{ now atomic.Pointer[time.Time] }

// span is the age of the first day of the history.
const span = 14 * 24 * time.Hour

// NewClock returns a clock that starts a span before now.
func NewClock(now time.Time) *Clock {
	c := new(Clock)
	c.set(now.Add(-span))
	return c
}

// Now returns the current time of the clock.
func (c *Clock) Now() time.Time { return *c.now.Load() }

// pass advances the clock. Only Fill calls it.
func (c *Clock) pass(d time.Duration) { c.set(c.Now().Add(d)) }

func (c *Clock) set(t time.Time) { c.now.Store(&t) }

// Person is a user who can sign in.
type Person struct {
	Username, Fullname string
	Role               string // the person's permissions, in words
	Key                string
}

// filler creates objects as the sysadmin, and uploads files as the writers in turn. It stops at the
// first error.
type filler struct {
	repo   *repository.Service
	clock  *Clock
	admin  auth.Principal
	people map[string]auth.Principal // by user name
	err    error
}

// Fill fills an empty repository. key is the key of its sysadmin, and clock is its clock. It
// returns the people who can sign in, the sysadmin first.
func Fill(ctx context.Context, repo *repository.Service, clock *Clock, key string) ([]Person, error) {
	f := filler{repo: repo, clock: clock, people: map[string]auth.Principal{}}
	if f.admin, f.err = repo.Credentials.Authenticate(ctx, key, auth.Origin{}); f.err != nil {
		return nil, f.err
	}
	people := []Person{{"admin", "", "sysadmin: all permissions", key}}
	for _, p := range members {
		p.Person.Key = f.person(ctx, p)
		people = append(people, p.Person)
	}
	for _, d := range lab {
		f.dataspace(ctx, d)
	}
	return people, f.err
}

// do calls fn unless an earlier call failed, and advances the clock.
func (f *filler) do(what string, fn func() error) {
	if f.err != nil {
		return
	}
	f.clock.pass(7 * time.Minute)
	if err := fn(); err != nil {
		f.err = fmt.Errorf("demo: %s: %w", what, err)
	}
}

// person creates a user with a key.
func (f *filler) person(ctx context.Context, p member) (key string) {
	f.do(p.Username, func() error {
		u, err := f.repo.Users.Create(ctx, f.admin, containers.NewUser{Username: p.Username, UserFields: containers.UserFields{Fullname: new(p.Fullname), About: new(p.about)}})
		if err != nil {
			return err
		}
		_, key, err = f.repo.Users.CreateKey(ctx, f.admin, u.ID.String(), containers.KeyFields{Label: new("demo")})
		if err == nil {
			f.people[p.Username], err = f.repo.Credentials.Authenticate(ctx, key, auth.Origin{})
		}
		return err
	})
	return key
}

// dataspace creates a dataspace with its sets.
func (f *filler) dataspace(ctx context.Context, d dataspace) {
	id := ""
	f.do(d.name, func() error {
		made, err := f.repo.Dataspaces.Create(ctx, f.admin, containers.NewDataspace{Name: d.name, DataspaceFields: containers.DataspaceFields{
			Title: &d.title, Description: &d.description, Visibility: &d.visibility,
		}})
		id = made.ID.String()
		return err
	})
	var writers []auth.Principal
	for _, name := range []string{"ines", "mara", "jon"} {
		role := d.roles[name]
		if role == auth.None {
			continue
		}
		f.do("role of "+name, func() error {
			_, _, err := f.repo.Users.Grant(ctx, f.admin, containers.NewPrivilege{UserID: f.people[name].UserID.String(), DataspaceID: id, Role: role})
			return err
		})
		if role != auth.Member {
			writers = append(writers, f.people[name])
		}
	}
	for _, s := range d.sets {
		f.set(ctx, id, s, writers)
	}
}

// set creates a set. The writers upload its files in turn, some days after the previous change.
func (f *filler) set(ctx context.Context, dataspaceID string, s set, writers []auth.Principal) {
	id := ""
	f.clock.pass(60 * time.Hour)
	f.do(s.name, func() error {
		made, err := f.repo.Sets.Create(ctx, f.admin, containers.NewSet{Name: s.name, DataspaceID: dataspaceID, SetFields: containers.SetFields{Title: new(s.title), Description: new(s.description), Metadata: descriptive.Patch(s.metadata)}})
		id = made.ID.String()
		return err
	})
	for n, file := range s.files {
		f.do(file.name, func() error { return f.file(ctx, writers[n%len(writers)], id, file) })
	}
}

func (f *filler) file(ctx context.Context, by auth.Principal, setID string, file file) error {
	content, err := samples.ReadFile(path.Join("files", file.source))
	if err != nil {
		return err
	}
	f.clock.pass(5 * time.Hour)
	upload := f.repo.Uploads.NewUpload(by)
	defer func() { _ = upload.Discard() }() // a committed upload stays
	if err := upload.Receive(ctx, bytes.NewReader(content)); err != nil {
		return err
	}
	made, err := upload.Create(ctx, files.UploadFields{
		SetID: &setID, Name: &file.name, Description: &file.description, Filename: file.name, Metadata: &file.metadata,
	})
	if err != nil || !file.deleted {
		return err
	}
	f.clock.pass(2 * time.Hour)
	_, err = f.repo.Files.Delete(ctx, by, made.ID.String(), core.Match{})
	return err
}
