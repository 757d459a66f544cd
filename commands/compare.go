package commands

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"labshelf/blobs"
	"labshelf/client"
)

// fewNames are asked for one by one: a set may have far more resources than somebody puts.
const fewNames = 4

// holding is a resource that a set has under a name.
type holding struct {
	id      string
	bytes   int64
	digest  blobs.Digest
	damaged bool // on the server, as far as it knows
}

// holdings are what a set has of some names.
type holdings struct {
	of     map[string][]holding
	newest time.Time // the latest modification of all that was listed
}

// list lists once what in the set begins like all of the names or, where these are few, has one of them.
func (u *putting) list(ctx context.Context, named map[string]string) (holdings, error) {
	held := holdings{of: map[string][]holding{}}
	if u.set.ID == "" || len(named) == 0 {
		return held, nil
	}
	for r, err := range u.listed(ctx, client.ListOptions{NamePrefix: beginning(named)}, named) {
		if err != nil {
			return held, err
		}
		if r.Modified.After(held.newest) {
			held.newest = r.Modified
		}
		if _, wanted := named[r.Name]; !wanted {
			continue
		}
		// What is changed while it is listed comes twice.
		others := slices.DeleteFunc(held.of[r.Name], func(h holding) bool { return h.id == r.ID })
		held.of[r.Name] = append(others, holding{r.ID, r.Bytes, r.SHA256, r.Damaged})
	}
	return held, nil
}

// beginning returns what all names begin with, up to what may not stand in a name.
func beginning(named map[string]string) string {
	prefix, first := "", true
	for name := range named {
		if first {
			prefix, first = name, false
		}
		for !strings.HasPrefix(name, prefix) || !utf8.ValidString(prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	if i := strings.IndexFunc(prefix, func(r rune) bool { return !unicode.IsGraphic(r) }); i >= 0 {
		prefix = prefix[:i]
	}
	return prefix
}

// listed lists the set with these options, or a few names one by one. After an error it ends.
func (u *putting) listed(ctx context.Context, o client.ListOptions, named map[string]string) iter.Seq2[client.Resource, error] {
	lists := []client.ListOptions{o}
	if len(named) <= fewNames {
		lists = nil
		for name := range named {
			lists = append(lists, client.ListOptions{Name: name})
		}
	}
	return func(yield func(client.Resource, error) bool) {
		for _, o := range lists {
			o.Limit = wholePage
			for r, err := range u.client.SetResources(ctx, u.set.ID, o) {
				var problem *client.Problem
				if o.Name != "" && errors.As(err, &problem) && problem.Status == 400 {
					break // nothing can have this name, as will be told when it is sent
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// made is a resource that was made in this run.
type made struct {
	id, etag string
	digest   blobs.Digest
}

func (u *putting) keep(r client.Resource) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.made[r.Name] = made{r.ID, r.ETag, r.SHA256}
}

// undouble deletes again what was made in this run and is there a second time, older: somebody else has put the same files
// meanwhile, or an upload was stored after all that was not answered when it was looked for. What is oldest stays, so that two who
// do this at the same time do not delete both.
func (u *putting) undouble(ctx context.Context, named map[string]string) error {
	if len(u.made) == 0 {
		return nil
	}
	o := client.ListOptions{NamePrefix: beginning(named)}
	if o.NamePrefix == "" {
		o.Since = u.held.newest
	}
	for r, err := range u.listed(ctx, o, named) {
		if err != nil {
			return err
		}
		mine := u.made[r.Name]
		if r.SHA256 != mine.digest || r.ID >= mine.id { // "" where none was made
			continue
		}
		if err := u.client.DeleteResource(ctx, mine.id, client.IfMatch(mine.etag)); err != nil {
			return err
		}
		delete(u.made, r.Name)
		u.report.retell(result{local: local{path: named[r.Name], name: r.Name}, outcome: there, id: r.ID, bytes: r.Bytes, digest: r.SHA256}, sent)
	}
	return nil
}
