package script

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

// Line is a reported row.
type Line struct {
	Exact string // with ids and stamps, which differ between runs
	Shape string // without ids and stamps, equal in every run of the script
}

// State is the content of a repository: each row by its kind and name.
type State map[string]Line

const usageKind = "usage"

// reader converts the tables of one transaction to a State.
type reader struct {
	tx     *metadata.Tx
	state  State
	names  map[metadata.ID]string
	inline map[blobs.Digest]blobs.Blob
}

// Read returns the content of the store.
func Read(ctx context.Context, store metadata.Reader) (State, error) {
	r := &reader{state: State{}, names: map[metadata.ID]string{}, inline: map[blobs.Digest]blobs.Blob{}}
	err := store.View(ctx, func(tx *metadata.Tx) error {
		r.tx = tx
		for _, part := range []func() error{r.users, r.dataspaces, r.sets, r.resources, r.privileges, r.blobs, r.steps, r.uploads} {
			if err := part(); err != nil {
				return err
			}
		}
		return nil
	})
	return r.state, err
}

// note adds a row. A second row with the same name gets another key.
func (r *reader) note(kind, name string, row any, shape ...any) {
	key := kind + " " + name
	for _, taken := r.state[key]; taken; _, taken = r.state[key] {
		key += " again"
	}
	r.state[key] = Line{Exact: fmt.Sprintf("%+v", row), Shape: fmt.Sprint(shape...)}
}

// history adds the entries of the audit log about an object, from its last entry backwards, and
// returns their number. So the state shows an entry exactly if its change exists.
func (r *reader) history(kind, name string, last uint64) (length int, err error) {
	var entries []metadata.AuditEntry
	for last != 0 {
		row, err := r.tx.Audit.Get(last)
		if err != nil {
			return 0, err
		}
		e, err := row.Entry()
		if err != nil {
			return 0, err
		}
		entries, last = append(entries, row), e.Previous
	}
	slices.Reverse(entries)
	for i, row := range entries {
		e, err := row.Entry()
		if err != nil {
			return 0, err
		}
		r.note("entry", fmt.Sprint(kind, " ", name, " ", i), row, e.Action)
	}
	return len(entries), nil
}

func each[T any](rows iter.Seq2[T, error], fn func(T) error) error {
	for row, err := range rows {
		if err == nil {
			err = fn(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) users() error {
	return each(r.tx.Users.All(metadata.ID{}), func(u metadata.User) error {
		r.names[u.ID] = u.Username
		changes, err := r.history("user", u.Username, u.Entry)
		if err != nil {
			return err
		}
		r.note("user", u.Username, u, u.State, u.Fullname, u.Sysadmin, changes)
		return each(r.tx.Keys.OfUser(u.ID, metadata.ID{}), func(k metadata.Key) error {
			k.LastUsed = 0 // recorded at a later time
			r.note("key", u.Username+"/"+k.Label, k, k.Gone != 0)
			return nil
		})
	})
}

func (r *reader) dataspaces() error {
	return each(r.tx.Dataspaces.All(metadata.ID{}), func(d metadata.Dataspace) error {
		r.names[d.ID] = d.Name
		changes, err := r.history("dataspace", d.Name, d.Entry)
		if err != nil {
			return err
		}
		r.note("dataspace", d.Name, d, d.State, d.Title, d.Visibility, d.Retention, changes)
		counters, err := r.tx.Usage.Get(d.ID)
		r.note(usageKind, d.Name, counters, counters)
		return err
	})
}

func (r *reader) sets() error {
	return each(r.tx.Sets.Range(metadata.SetRange{States: paging.All}), func(s metadata.Set) error {
		r.names[s.ID] = s.Name
		changes, err := r.history("set", s.Name, s.Entry)
		r.note("set", s.Name, s, s.State, s.Title, r.names[s.DataspaceID], changes)
		return err
	})
}

func (r *reader) resources() error {
	all := metadata.ResourceRange{States: paging.All, Order: paging.Oldest}
	return each(r.tx.Resources.Range(all), func(o metadata.Resource) error {
		if o.Body == metadata.Inline {
			r.inline[o.Digest] = blobs.Blob{Digest: o.Digest, Size: o.Bytes}
			o.Body = metadata.InBlob
		}
		name := r.names[o.SetID] + "/" + o.Name
		changes, err := r.history("resource", name, o.Entry)
		r.note("resource", name, o, o.State, o.Body == metadata.Purged, o.Version, o.Digest, o.Bytes, o.Description, o.MimeType, " ", changes)
		return errors.Join(err, r.versions(o))
	})
}

func (r *reader) versions(of metadata.Resource) error {
	return each(r.tx.Versions.Before(of.VersionKey()), func(v metadata.Version) error {
		if v.Body == metadata.Inline {
			r.inline[v.Digest] = blobs.Blob{Digest: v.Digest, Size: v.Bytes}
			v.Body = metadata.InBlob
		}
		r.note("version", fmt.Sprint(r.names[of.SetID], "/", of.Name, " ", v.Number), v, v.Removed.Rule, v.Digest, v.Bytes, v.Label)
		return nil
	})
}

func (r *reader) privileges() error {
	return each(r.tx.Privileges.All(metadata.ID{}), func(p metadata.Privilege) error {
		r.note("privilege", r.names[p.UserID]+"@"+r.names[p.DataspaceID], p, p.State, p.Role)
		return nil
	})
}

// blobs includes inline bodies, because the time of a flush is not a part of the state.
func (r *reader) blobs() error {
	err := each(r.tx.Blobs.All(blobs.Digest{}), func(b blobs.Blob) error {
		delete(r.inline, b.Digest)
		r.note("blob", b.Digest.String(), b, b.Size)
		return nil
	})
	for _, b := range r.inline {
		r.note("blob", b.Digest.String(), b, b.Size)
	}
	return err
}

func (r *reader) steps() error {
	return each(r.tx.Cascades.All(metadata.ID{}), func(s metadata.Cascade) error {
		r.note("step", r.names[s.Container], s, s.Restore)
		return nil
	})
}

// Expected describes the allowed states after a crash.
type Expected struct {
	Acked         State // reported when the last operation was acknowledged
	Before, After State // states of a run without a crash at that point, and one operation later
	InBatches     bool  // the next operation takes several commits, each with a part of it
}

// Differences returns the unexpected differences. Acknowledged rows must be equal in all bytes. The
// interrupted operation must be complete or absent. If it takes several commits, it may be done in
// part.
func (e Expected) Differences(found State) (wrong []string) {
	var old, fresh []string
	for _, key := range keysOf(found, e.Acked, e.Before, e.After) {
		got, here := found[key]
		acked, had := e.Acked[key]
		after, has := e.After[key]
		isOld, isNew := here == had && got == acked, here == has && got.Shape == after.Shape
		before, was := e.Before[key]
		switch changes := was != has || before.Shape != after.Shape; {
		case !changes && isOld:
		case changes && isOld:
			old = append(old, key)
		case changes && isNew:
			fresh = append(fresh, key)
		case changes && here && e.InBatches && strings.HasPrefix(key, usageKind):
			// Intermediate counters must match the existing rows. The check verifies that.
		case changes && here && e.InBatches && strings.HasPrefix(key, uploadKind):
			// All parts were received, but the upload is not a resource yet. It becomes one at the
			// next request of its client.
		default:
			wrong = append(wrong, fmt.Sprintf("%s: found %q, acknowledged %q, next %q", key, got.Exact, acked.Exact, after.Shape))
		}
	}
	if !e.InBatches && len(old) > 0 && len(fresh) > 0 {
		wrong = append(wrong, fmt.Sprintf("half of an operation: %s is new, %s is not", strings.Join(fresh, ", "), strings.Join(old, ", ")))
	}
	return wrong
}

func keysOf(states ...State) (keys []string) {
	for _, s := range states {
		for key := range s {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Report is the report of the child after each try of an operation.
type Report struct {
	Op       int    // number of the operation, from 0
	Code     string // error code; "" is success, which acknowledges the operation
	Error    string // message of the error
	ReadOnly bool   // the stores report that they are read-only
	Temps    int    // see Leftovers
	Unread   string // why some data could not be read, or ""

	Changed map[string]Line // new or changed rows since the last report
	Gone    []string        // removed rows
}

// delta sets the changes between two states.
func (r *Report) delta(before, after State) {
	r.Changed = map[string]Line{}
	for key, line := range after {
		if before[key] != line {
			r.Changed[key] = line
		}
	}
	for key := range before {
		if _, still := after[key]; !still {
			r.Gone = append(r.Gone, key)
		}
	}
}

// Apply returns the state after a report.
func (s State) Apply(r Report) State {
	next := make(State, len(s)+len(r.Changed))
	for key, line := range s {
		next[key] = line
	}
	for key, line := range r.Changed {
		next[key] = line
	}
	for _, key := range r.Gone {
		delete(next, key)
	}
	return next
}

// codeOf returns the code of an error as clients see it, Other for an error without a code, and ""
// for nil.
func codeOf(err error) string {
	var known *errs.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return string(known.Code)
	}
	return Other
}

// Other is the code of an error outside of use cases, such as opening the stores.
const Other = "other"
