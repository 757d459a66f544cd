package metadatatest

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

// probe contains the values to ask a store about.
type probe struct {
	ids     []metadata.ID // ids of rows
	parents []metadata.ID // ids of users and containers
	names   []string
	digests []blobs.Digest
	keys    []auth.KeyDigest

	sessions []auth.SessionDigest
}

// probeOf returns a probe with every id, string and digest of the rows, except the zero id, which
// names nothing.
func probeOf(rows ...any) probe {
	var p probe
	for _, row := range rows {
		p.add(reflect.ValueOf(row))
	}
	slices.SortFunc(p.ids, metadata.ID.Compare)
	p.ids = slices.DeleteFunc(slices.Compact(p.ids), func(id metadata.ID) bool { return id == metadata.ID{} })
	p.parents = p.ids
	return p
}

func (p *probe) add(v reflect.Value) {
	switch value := v.Interface().(type) {
	case metadata.ID:
		p.ids = append(p.ids, value)
	case blobs.Digest:
		p.digests = append(p.digests, value)
	case auth.KeyDigest:
		p.keys = append(p.keys, value)
	case auth.SessionDigest:
		p.sessions = append(p.sessions, value)
	case string:
		p.names = append(p.names, value)
	default:
		if v.Kind() != reflect.Struct {
			return
		}
		for i := range v.NumField() {
			p.add(v.Field(i))
		}
	}
}

// answers are the answers of a store, by question. Empty answers are omitted.
type answers struct {
	to  map[string]any
	err error
}

// contents asks every question about the values in the probe.
func contents(tx *metadata.Tx, p probe) (map[string]any, error) {
	a := &answers{to: map[string]any{}}
	a.askRows(tx, p)
	a.askLists(tx, p)
	a.askSets(tx, p)
	a.askResources(tx, p)
	a.askVersions(tx, p)
	a.askWebhooks(tx, p)
	a.askDescriptive(tx, p)
	return a.to, a.err
}

// read returns a function that reads the contents in a read transaction.
func read(p probe) func(*metadata.Tx) (map[string]any, error) {
	return func(tx *metadata.Tx) (map[string]any, error) {
		tx.Prefetch(func() { _, _ = contents(tx, p) })
		return contents(tx, p)
	}
}

func note[T any](a *answers, question string, answer T, err error) {
	switch {
	case err == nil:
		a.to[question] = answer
	case !errors.Is(err, metadata.ErrNotFound):
		a.err = errors.Join(a.err, fmt.Errorf("%s: %w", question, err))
	}
}

func noteAll[T any](a *answers, question string, seq iter.Seq2[T, error]) {
	items, err := list(seq)
	if err != nil || len(items) > 0 {
		note(a, question, items, err)
	}
}

func (a *answers) askRows(tx *metadata.Tx, p probe) {
	for _, id := range p.ids {
		for of, get := range map[string]func(metadata.ID) (any, error){
			"Dataspaces.Get": func(id metadata.ID) (any, error) { return tx.Dataspaces.Get(id) },
			"Sets.Get":       func(id metadata.ID) (any, error) { return tx.Sets.Get(id) },
			"Resources.Get":  func(id metadata.ID) (any, error) { return tx.Resources.Get(id) },
			"Users.Get":      func(id metadata.ID) (any, error) { return tx.Users.Get(id) },
			"Privileges.Get": func(id metadata.ID) (any, error) { return tx.Privileges.Get(id) },
			"Uploads.Get":    func(id metadata.ID) (any, error) { return tx.Uploads.Get(id) },
			"Cascades.Get":   func(id metadata.ID) (any, error) { return tx.Cascades.Get(id) },
		} {
			row, err := get(id)
			note(a, of+" "+id.String(), row, err)
		}
	}
	for _, name := range p.names {
		for of, byName := range map[string]func(string) (metadata.ID, error){
			"Dataspaces": tx.Dataspaces.ByName, "Sets": tx.Sets.ByName, "Users": tx.Users.ByName,
		} {
			id, err := byName(name)
			note(a, fmt.Sprintf("%s.ByName %.40q", of, name), id, err)
		}
	}
	for _, digest := range p.digests {
		blob, err := tx.Blobs.Get(digest)
		note(a, "Blobs.Get "+digest.String(), blob, err)
		noteAll(a, "Trashed.Of "+digest.String(), tx.Trashed.Of(digest))
		noteAll(a, "Blobs.Refs "+digest.String(), tx.Blobs.Refs(digest))
		noteAll(a, "Blobs.All after "+digest.String(), tx.Blobs.All(digest))
		damage, err := tx.Damages.Get(digest)
		note(a, "Damages.Get "+digest.String(), damage, err)
		unreferenced, err := tx.Unreferenced.Get(digest)
		note(a, "Unreferenced.Get "+digest.String(), unreferenced, err)
		noteAll(a, "Unreferenced.All after "+digest.String(), tx.Unreferenced.All(digest))
		if wait, err := tx.Uploads.Awaited(digest); err != nil || wait {
			note(a, "Uploads.Awaited "+digest.String(), wait, err)
		}
	}
	for _, digest := range p.keys {
		key, err := tx.Keys.ByDigest(digest)
		note(a, fmt.Sprintf("Keys.ByDigest %x", digest), key, err)
	}
}

func (a *answers) askLists(tx *metadata.Tx, p probe) {
	noteAll(a, "Dataspaces.All", tx.Dataspaces.All(metadata.ID{}))
	noteAll(a, "Dataspaces.Public", tx.Dataspaces.Public(metadata.ID{}))
	noteAll(a, "Users.All", tx.Users.All(metadata.ID{}))
	noteAll(a, "Privileges.All", tx.Privileges.All(metadata.ID{}))
	noteAll(a, "Cascades.All", inOrder(tx.Cascades.All(metadata.ID{})))
	noteAll(a, "Blobs.All", tx.Blobs.All(blobs.Digest{}))
	a.askTrashed(tx, p)
	noteAll(a, "Damages.All", tx.Damages.All(blobs.Digest{}))
	noteAll(a, "Unreferenced.All", tx.Unreferenced.All(blobs.Digest{}))
	if total, err := tx.Unreferenced.Total(); err != nil || total != (metadata.BlobCount{}) {
		note(a, "Unreferenced.Total", total, err)
	}
	noteAll(a, "Uploads.Ended", tx.Uploads.Ended(math.MaxInt64))
	a.askBodies(tx)
	if last, err := tx.Lineage.LastStamp(); err != nil || last != 0 {
		note(a, "Lineage.LastStamp", last, err)
	}
	if state, err := tx.Scrub.Get(); err != nil || state != (metadata.ScrubState{}) {
		note(a, "Scrub.Get", state, err)
	}
	if state, err := tx.Filling.Get(); err != nil || state != (metadata.FillState{}) {
		note(a, "Filling.Get", state, err)
	}
	for _, parent := range append([]metadata.ID{{}}, p.parents...) {
		of := " " + parent.String()
		noteAll(a, "Keys.OfUser"+of, tx.Keys.OfUser(parent, metadata.ID{}))
		noteAll(a, "Sessions.OfUser"+of, tx.Sessions.OfUser(parent))
		for _, digest := range p.sessions {
			session, err := tx.Sessions.Get(metadata.SessionKey{User: parent, Digest: digest})
			note(a, fmt.Sprintf("Sessions.Get%s %x", of, digest), session, err)
		}
		noteAll(a, "Privileges.OfUser"+of, tx.Privileges.OfUser(parent, metadata.ID{}))
		noteAll(a, "Privileges.OfDataspace"+of, tx.Privileges.OfDataspace(parent))
		noteAll(a, "Usage.Days"+of, tx.Usage.Days(parent))
		noteAll(a, "UserUsage.All"+of, tx.UserUsage.All(parent))
		counters, err := tx.Usage.Get(parent)
		if err != nil || counters != (metadata.Counters{}) {
			note(a, "Usage.Get"+of, counters, err)
		}
		for _, other := range p.parents {
			privilege, err := tx.Privileges.Of(parent, other)
			note(a, "Privileges.Of"+of+" "+other.String(), privilege, err)
		}
		for _, key := range p.ids {
			row, err := tx.Keys.Get(parent, key)
			note(a, "Keys.Get"+of+" "+key.String(), row, err)
		}
	}
}

func (a *answers) askBodies(tx *metadata.Tx) {
	keys, err := list(tx.InlineBodies.All(metadata.VersionKey{}))
	if err != nil || len(keys) > 0 {
		note(a, "InlineBodies.All", keys, err)
	}
	for _, of := range keys {
		body, err := tx.InlineBodies.Get(of)
		note(a, fmt.Sprintf("InlineBodies.Get %s %d", of.Resource, of.Version), string(body), err)
	}
	if total, err := tx.InlineBodies.Total(); err != nil || total != (metadata.BodyCount{}) {
		note(a, "InlineBodies.Total", total, err)
	}
}

func (a *answers) askVersions(tx *metadata.Tx, p probe) {
	noteAll(a, "Versions.All", tx.Versions.All(metadata.VersionKey{}))
	for _, id := range p.ids {
		newest := metadata.VersionKey{Resource: id, Version: math.MaxUint32}
		noteAll(a, "Versions.Before the last of "+id.String(), tx.Versions.Before(newest))
		noteAll(a, "Versions.All after the last of "+id.String(), tx.Versions.All(newest))
		for older, err := range tx.Versions.Before(newest) {
			if err != nil {
				a.err = errors.Join(a.err, err)
				break
			}
			row, err := tx.Versions.Get(older.Key())
			note(a, fmt.Sprintf("Versions.Get %s %d", id, older.Number), row, err)
			noteAll(a, fmt.Sprintf("Versions.Before %s %d", id, older.Number), tx.Versions.Before(older.Key()))
		}
	}
}

// inOrder sorts cascades.
func inOrder(steps iter.Seq2[metadata.Cascade, error]) iter.Seq2[metadata.Cascade, error] {
	return func(yield func(metadata.Cascade, error) bool) {
		rows, err := list(steps)
		slices.SortFunc(rows, func(a, b metadata.Cascade) int { return a.Container.Compare(b.Container) })
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
		if err != nil {
			yield(metadata.Cascade{}, err)
		}
	}
}

// states are the sets of states that a listing can request.
func states() []paging.States { return []paging.States{paging.Active, paging.Deleted, paging.All} }

func (a *answers) askSets(tx *metadata.Tx, p probe) {
	for _, of := range states() {
		noteAll(a, fmt.Sprintf("Sets.Range %d", of), tx.Sets.Range(metadata.SetRange{States: of}))
		for _, parent := range p.parents {
			in := metadata.SetRange{Dataspaces: []metadata.ID{parent}, States: of}
			noteAll(a, fmt.Sprintf("Sets.Range %d %s", of, parent), tx.Sets.Range(in))
		}
	}
}

func (a *answers) askResources(tx *metadata.Tx, p probe) {
	ask := func(place string, q metadata.ResourceRange, orders ...paging.Order) {
		for _, q.Order = range orders {
			for _, q.States = range states() {
				noteAll(a, fmt.Sprintf("Resources.Range %s %d %d", place, q.Order, q.States), tx.Resources.Range(q))
			}
		}
	}
	ask("of all", metadata.ResourceRange{}, paging.Oldest, paging.Newest)
	for _, parent := range p.parents {
		of := parent.String()
		ask("of dataspace "+of, metadata.ResourceRange{Dataspaces: []metadata.ID{parent}}, paging.Oldest, paging.Newest)
		ask("of set "+of, metadata.ResourceRange{Set: parent}, paging.Oldest, paging.Newest, paging.ByName, paging.ByNameDown)
		for _, of := range states() {
			noteAll(a, fmt.Sprintf("Resources.Children %s %d", parent, of), Children(tx, metadata.ResourceRange{Set: parent, Order: paging.ByName, States: of}))
		}
	}
}
