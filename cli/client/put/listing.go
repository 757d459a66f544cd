package put

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"labshelf/blobs"
	"labshelf/cli/client/reference"
	"labshelf/cli/client/report"
	"labshelf/cli/client/sent"
	"labshelf/client"
)

// fewNames is the largest number of names that are looked up one by one: a set may have far more
// resources than a put has files.
const fewNames = 4

// existing is a resource of the set.
type existing struct {
	id      string
	name    string // may have another Unicode form than the name of the file that replaces it
	bytes   int64
	digest  blobs.Digest
	damaged bool // as far as the service knows
}

// existingFiles are the resources of the set by name.
type existingFiles struct {
	of     map[string][]existing
	newest time.Time // the latest modification in the listing
}

// list lists the resources with these names once, by their common prefix or, where the names are
// few, one by one.
func (u *job) list(ctx context.Context, named map[string]string) (existingFiles, error) {
	held, others := existingFiles{of: map[string][]existing{}}, map[string][]existing{}
	if u.set.ID == "" || len(named) == 0 {
		return held, nil
	}
	for r, err := range u.listed(ctx, client.ListOptions{NamePrefix: beginning(named)}, named) {
		if err != nil {
			return held, err
		}
		if r.Modified.After(held.newest) {
			held.newest = r.Modified.Time
		}
		into := held.of
		if _, wanted := named[r.Name]; !wanted {
			into = others
		}
		// A resource that changes during the listing appears twice.
		same := slices.DeleteFunc(into[r.Name], func(h existing) bool { return h.id == r.ID })
		into[r.Name] = append(same, existing{r.ID, r.Name, r.Bytes, r.SHA256, r.Damaged})
	}
	takeOtherForms(held.of, others, named)
	return held, nil
}

// takeOtherForms adds resources whose names differ from the name of a file only in their Unicode
// normal form, as names from macOS do. It does so only if exactly one resource has such a name and
// none has the name itself.
func takeOtherForms(held, others map[string][]existing, named map[string]string) {
	composed := map[string][]existing{}
	for name, of := range others {
		form := norm.NFC.String(name)
		composed[form] = append(composed[form], of...)
	}
	for name := range named {
		if of := composed[norm.NFC.String(name)]; len(of) == 1 && len(held[name]) == 0 {
			held[name] = of
		}
	}
}

// beginning returns the common prefix of names, up to the first character that no name can contain.
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
	for name := range named {
		// The service may store the name in another Unicode form; the prefix before it is the same.
		if other := strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }); other >= 0 {
			folder := name[:strings.LastIndexByte(name[:other], '/')+1]
			prefix = prefix[:min(len(prefix), len(folder))]
		}
	}
	return prefix
}

// listed lists the set with these options, or looks up a few names one by one. It ends after an
// error.
func (u *job) listed(ctx context.Context, o client.ListOptions, named map[string]string) iter.Seq2[client.Resource, error] {
	lists := []client.ListOptions{o}
	if len(named) <= fewNames {
		lists = nil
		for name := range named {
			lists = append(lists, client.ListOptions{Name: name})
		}
	}
	return func(yield func(client.Resource, error) bool) {
		for _, o := range lists {
			o.Limit = reference.PageSize
			for r, err := range u.client.Sets.Resources(ctx, u.set.ID, o) {
				var problem *client.Problem
				if o.Name != "" && errors.As(err, &problem) && problem.Status == 400 {
					break // no resource can have this name; the upload will return the reason
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// created is a resource that this run created.
type created struct {
	id, etag string
	digest   blobs.Digest
}

// noteCreated records a resource that was created from a file.
func (u *job) noteCreated(f localFile, r client.Resource) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.readable {
		u.created[r.Name] = created{r.ID, r.ETag, r.SHA256}
		return nil
	}
	if err := u.sent.Add(sent.File{Name: f.name, Bytes: r.Bytes, SHA256: r.SHA256, ID: r.ID}); err != nil {
		return fatal{fmt.Errorf("the file is stored, but the list of sent files cannot be written, so another run would send the file again: %w", err)}
	}
	return nil
}

// listSent returns the files that earlier runs on this computer have sent to a set that cannot be
// listed.
func (u *job) listSent(_ context.Context, named map[string]string) (existingFiles, error) {
	held := existingFiles{of: map[string][]existing{}}
	var files []sent.File
	var err error
	if u.sent, err = sent.Of(u.client.Base(), u.set.ID); err == nil {
		files, err = u.sent.Files()
	}
	for _, f := range files {
		if _, wanted := named[f.Name]; wanted {
			held.of[f.Name] = append(held.of[f.Name], existing{f.ID, f.Name, f.Bytes, f.SHA256, false})
		}
	}
	return held, err
}

// deleteDuplicates deletes the resources of this run that have an older duplicate. Another client
// may have put the same files, or an upload without a response may have been stored after all. The
// oldest resource stays, so that two clients that do this at the same time do not delete both.
func (u *job) deleteDuplicates(ctx context.Context, named map[string]string) error {
	if len(u.created) == 0 {
		return nil
	}
	o := client.ListOptions{NamePrefix: beginning(named)}
	if o.NamePrefix == "" {
		o.Since = u.existing.newest
	}
	for r, err := range u.listed(ctx, o, named) {
		if err != nil {
			return err
		}
		mine := u.created[r.Name]
		if r.SHA256 != mine.digest || r.ID >= mine.id { // "" if this run created no such resource
			continue
		}
		if err := u.client.Resources.Delete(ctx, mine.id, client.IfMatch(mine.etag)); err != nil {
			return err
		}
		delete(u.created, r.Name)
		u.report.Replace(report.Result{Path: named[r.Name], Name: r.Name, Outcome: report.Present, ID: r.ID, Bytes: r.Bytes, Digest: r.SHA256}, report.Sent)
	}
	return nil
}
