package metadatatest

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// state is everything that one commit left.
type state struct {
	last           metadata.Stamp
	access         uint64 // version of what decides access
	dataspaces     map[metadata.ID]metadata.Dataspace
	sets           map[metadata.ID]metadata.Set
	resources      map[metadata.ID]metadata.Resource
	versions       map[versionKey]metadata.Version
	users          map[metadata.ID]metadata.User
	keys           map[metadata.ID]metadata.Key
	sessions       map[sessionKey]metadata.Session
	uploads        map[metadata.ID]metadata.ResumableUpload
	privileges     map[metadata.ID]metadata.Privilege
	cascades       map[metadata.ID]metadata.Cascade
	usage          map[metadata.ID]metadata.Counters
	days           map[usageKey]usageRow
	blobs          map[digest]blobs.Blob
	trashed        map[objectKey]metadata.TrashedObject
	damages        map[digest]metadata.Damage
	unreferenced   map[digest]metadata.Unreferenced
	bodies         map[versionKey]bodyRow
	webhooks       map[metadata.ID]metadata.Webhook
	deliveries     map[deliveryKey]metadata.Delivery
	descriptive    map[metadata.ID]metadata.Descriptive
	schemas        map[metadata.ID]metadata.Schema
	schemaVersions map[schemaVersionKey]metadata.SchemaVersion
	edits          map[metadata.ID]metadata.BulkEdit
	editEntries    map[editEntry]metadata.EditEntry
	folders        map[folderKey]metadata.Folder
	properties     map[metadata.ID]metadata.FileProperties
	links          map[metadata.ID]metadata.Link
	linkUses       map[metadata.ID]metadata.LinkUse
	userUsage      map[metadata.ID]metadata.UserUsage
	leases         map[name]metadata.Lease
	nodes          map[metadata.ID]metadata.Node
	scrub          metadata.ScrubState
	filling        metadata.FillState
	epoch          metadata.Epoch
	entries        []metadata.AuditEntry
	log            audit.State
}

func newState(now time.Time) *state {
	s := &state{
		access:         1,
		dataspaces:     map[metadata.ID]metadata.Dataspace{},
		sets:           map[metadata.ID]metadata.Set{},
		resources:      map[metadata.ID]metadata.Resource{},
		versions:       map[versionKey]metadata.Version{},
		users:          map[metadata.ID]metadata.User{},
		keys:           map[metadata.ID]metadata.Key{},
		sessions:       map[sessionKey]metadata.Session{},
		uploads:        map[metadata.ID]metadata.ResumableUpload{},
		privileges:     map[metadata.ID]metadata.Privilege{},
		cascades:       map[metadata.ID]metadata.Cascade{},
		usage:          map[metadata.ID]metadata.Counters{},
		days:           map[usageKey]usageRow{},
		blobs:          map[digest]blobs.Blob{},
		trashed:        map[objectKey]metadata.TrashedObject{},
		damages:        map[digest]metadata.Damage{},
		unreferenced:   map[digest]metadata.Unreferenced{},
		bodies:         map[versionKey]bodyRow{},
		webhooks:       map[metadata.ID]metadata.Webhook{},
		deliveries:     map[deliveryKey]metadata.Delivery{},
		descriptive:    map[metadata.ID]metadata.Descriptive{},
		schemas:        map[metadata.ID]metadata.Schema{},
		schemaVersions: map[schemaVersionKey]metadata.SchemaVersion{},
		edits:          map[metadata.ID]metadata.BulkEdit{},
		editEntries:    map[editEntry]metadata.EditEntry{},
		folders:        map[folderKey]metadata.Folder{},
		properties:     map[metadata.ID]metadata.FileProperties{},
		links:          map[metadata.ID]metadata.Link{},
		linkUses:       map[metadata.ID]metadata.LinkUse{},
		userUsage:      map[metadata.ID]metadata.UserUsage{},
		leases:         map[name]metadata.Lease{},
		nodes:          map[metadata.ID]metadata.Node{},
	}
	if err := s.tx(func() time.Time { return now }, s).SetEpoch(metadata.NewEpoch(0, now)); err != nil {
		panic(err) // nothing here fails
	}
	return s
}

// clone returns a state that can be changed without changing this one.
func (s *state) clone() *state {
	c := *s
	c.dataspaces, c.sets, c.resources = maps.Clone(s.dataspaces), maps.Clone(s.sets), maps.Clone(s.resources)
	c.versions = maps.Clone(s.versions)
	c.users, c.keys, c.sessions = maps.Clone(s.users), maps.Clone(s.keys), maps.Clone(s.sessions)
	c.uploads, c.privileges, c.cascades = maps.Clone(s.uploads), maps.Clone(s.privileges), maps.Clone(s.cascades)
	c.usage, c.days, c.blobs = maps.Clone(s.usage), maps.Clone(s.days), maps.Clone(s.blobs)
	c.trashed = maps.Clone(s.trashed)
	c.damages, c.unreferenced, c.bodies = maps.Clone(s.damages), maps.Clone(s.unreferenced), maps.Clone(s.bodies)
	c.entries = slices.Clone(s.entries)
	c.webhooks, c.deliveries, c.descriptive = maps.Clone(s.webhooks), maps.Clone(s.deliveries), maps.Clone(s.descriptive)
	c.schemas, c.schemaVersions = maps.Clone(s.schemas), maps.Clone(s.schemaVersions)
	c.edits, c.editEntries = maps.Clone(s.edits), maps.Clone(s.editEntries)
	c.userUsage, c.leases, c.nodes = maps.Clone(s.userUsage), maps.Clone(s.leases), maps.Clone(s.nodes)
	c.folders, c.properties = maps.Clone(s.folders), maps.Clone(s.properties)
	c.links, c.linkUses = maps.Clone(s.links), maps.Clone(s.linkUses)
	return &c
}

// decidesAs reports whether access is decided as in the other state.
func (s *state) decidesAs(o *state) bool {
	return maps.Equal(s.users, o.users) && maps.Equal(s.privileges, o.privileges) && maps.Equal(s.dataspaces, o.dataspaces) &&
		maps.Equal(s.sets, o.sets) && maps.Equal(s.cascades, o.cascades) && maps.Equal(s.sessions, o.sessions) &&
		maps.EqualFunc(s.keys, o.keys, func(a, b metadata.Key) bool {
			a.LastUsed = b.LastUsed
			return a == b
		})
}

// tx returns the tables of this state. A write transaction, of which last is the state before it,
// has a clock; a read transaction has none.
func (s *state) tx(now func() time.Time, last *state) *metadata.Tx {
	mode := access{writes: now != nil}
	made := folders{newTable(mode, s.folders, func(f metadata.Folder) folderKey { return folderKey(f.Key()) })}
	files := resources{newTable(mode, s.resources, func(r metadata.Resource) metadata.ID { return r.ID }), made}
	former := versions{newTable(mode, s.versions, func(v metadata.Version) versionKey { return versionKey(v.Key()) })}
	return &metadata.Tx{
		Dataspaces:     dataspaces{newTable(mode, s.dataspaces, func(d metadata.Dataspace) metadata.ID { return d.ID })},
		Sets:           sets{newTable(mode, s.sets, func(s metadata.Set) metadata.ID { return s.ID })},
		Resources:      files,
		Versions:       former,
		Users:          users{newTable(mode, s.users, func(u metadata.User) metadata.ID { return u.ID })},
		Keys:           keys{newTable(mode, s.keys, func(k metadata.Key) metadata.ID { return k.ID })},
		Sessions:       sessions{newTable(mode, s.sessions, func(s metadata.Session) sessionKey { return sessionKey{s.UserID, s.Digest} })},
		Uploads:        uploads{newTable(mode, s.uploads, func(u metadata.ResumableUpload) metadata.ID { return u.ID })},
		Privileges:     privileges{newTable(mode, s.privileges, func(p metadata.Privilege) metadata.ID { return p.ID })},
		Cascades:       cascades{newTable(mode, s.cascades, func(c metadata.Cascade) metadata.ID { return c.Container })},
		Usage:          usage{newTable(mode, s.days, func(row usageRow) usageKey { return usageKey{row.Dataspace, row.Day} }), s.usage},
		Blobs:          blobRows{newTable(mode, s.blobs, func(b blobs.Blob) digest { return digest(b.Digest) }), files, former},
		Trashed:        trashed{newTable(mode, s.trashed, func(o metadata.TrashedObject) objectKey { return objectKey(o.Key()) }), s.blobs},
		Damages:        damages{newTable(mode, s.damages, func(d metadata.Damage) digest { return digest(d.Digest) })},
		Unreferenced:   unreferenced{newTable(mode, s.unreferenced, func(u metadata.Unreferenced) digest { return digest(u.Digest) })},
		InlineBodies:   bodies{newTable(mode, s.bodies, func(row bodyRow) versionKey { return versionKey(row.VersionKey) })},
		Scrub:          scrub{mode, &s.scrub},
		Filling:        filling{mode, &s.filling},
		Lineage:        lineage{mode, s},
		Audit:          auditLog{mode, s},
		Webhooks:       newTable(mode, s.webhooks, func(w metadata.Webhook) metadata.ID { return w.ID }),
		Deliveries:     deliveries{newTable(mode, s.deliveries, func(d metadata.Delivery) deliveryKey { return deliveryKey(d.Key()) })},
		Descriptive:    newTable(mode, s.descriptive, func(d metadata.Descriptive) metadata.ID { return d.ObjectID }),
		Schemas:        schemas{newTable(mode, s.schemas, func(s metadata.Schema) metadata.ID { return s.ID })},
		SchemaVersions: schemaVersions{newTable(mode, s.schemaVersions, func(v metadata.SchemaVersion) schemaVersionKey { return schemaVersionKey(v.Key()) })},
		Edits:          edits{newTable(mode, s.edits, func(e metadata.BulkEdit) metadata.ID { return e.ID })},
		EditEntries:    editEntries{newTable(mode, s.editEntries, func(e metadata.EditEntry) editEntry { return editEntry(e) })},
		Folders:        made,
		UserUsage:      newTable(mode, s.userUsage, func(u metadata.UserUsage) metadata.ID { return u.UserID }),
		FileProperties: newTable(mode, s.properties, func(p metadata.FileProperties) metadata.ID { return p.ResourceID }),
		Links:          links{newTable(mode, s.links, func(l metadata.Link) metadata.ID { return l.ID })},
		LinkUses:       newTable(mode, s.linkUses, func(u metadata.LinkUse) metadata.ID { return u.LinkID }),
		Leases:         leases{newTable(mode, s.leases, func(l metadata.Lease) name { return name(l.Name) })},
		Nodes:          newTable(mode, s.nodes, func(n metadata.Node) metadata.ID { return n.Instance }),
		Now: func() metadata.Stamp {
			mode.mustWrite()
			return metadata.Stamp(now().UnixMicro())
		},
		Stamp: func() metadata.Stamp {
			mode.mustWrite()
			s.last = metadata.NextStamp(s.last, now())
			return s.last
		},
		Access: func() uint64 {
			if s != last && !s.decidesAs(last) {
				return 0
			}
			return last.access
		},
		Prefetch: func(func()) {},
	}
}

func newTable[K ordered[K], T any](mode access, rows map[K]T, key func(T) K) table[K, T] {
	return table[K, T]{mode, rows, key}
}

// versionKey is one that can be ordered.
type versionKey metadata.VersionKey

func (k versionKey) Compare(o versionKey) int {
	return cmp.Or(k.Resource.Compare(o.Resource), cmp.Compare(k.Version, o.Version))
}

// bodies are stored as strings, so that callers cannot change them.
type bodies struct {
	table[versionKey, bodyRow]
}

func (t bodies) Get(of metadata.VersionKey) ([]byte, error) {
	row, err := t.table.Get(versionKey(of))
	return []byte(row.Body), err
}

func (t bodies) Put(of metadata.VersionKey, body []byte) error {
	return t.table.Put(bodyRow{of, string(body)})
}

func (t bodies) Remove(of metadata.VersionKey) error { return t.table.Remove(versionKey(of)) }

func (t bodies) All(after metadata.VersionKey) iter.Seq2[metadata.VersionKey, error] {
	return fields(t.table.All(versionKey(after)), func(row bodyRow) metadata.VersionKey { return row.VersionKey })
}

func (t bodies) Total() (total metadata.BodyCount, err error) {
	for _, row := range t.rows {
		total.Bodies++
		total.Bytes += int64(len(row.Body))
	}
	return total, nil
}

type scrub struct {
	access
	state *metadata.ScrubState
}

func (t scrub) Get() (metadata.ScrubState, error) { return *t.state, nil }

func (t scrub) Put(state metadata.ScrubState) error {
	t.mustWrite()
	*t.state = state
	return nil
}

type filling struct {
	access
	state *metadata.FillState
}

func (t filling) Get() (metadata.FillState, error) { return *t.state, nil }

func (t filling) Put(state metadata.FillState) error {
	t.mustWrite()
	*t.state = state
	return nil
}

// lineage is the epoch of a state.
type lineage struct {
	access
	state *state
}

func (t lineage) Epoch() (metadata.Epoch, error) { return t.state.epoch, nil }

func (t lineage) Put(epoch metadata.Epoch) error {
	t.mustWrite()
	t.state.epoch = epoch
	return nil
}

func (t lineage) LastStamp() (metadata.Stamp, error) { return t.state.last, nil }

// auditLog is the log of a state.
type auditLog struct {
	access
	state *state
}

func (t auditLog) State() (audit.State, error) { return t.state.log, nil }

func (t auditLog) Get(number uint64) (metadata.AuditEntry, error) {
	if number >= uint64(len(t.state.entries)) {
		return metadata.AuditEntry{}, metadata.ErrNotFound
	}
	return t.state.entries[number], nil
}

func (t auditLog) Entry(number uint64) (e audit.Entry, err error) {
	row, err := t.Get(number)
	if err == nil {
		e, err = row.Entry()
	}
	return e, err
}

func (t auditLog) Append(e metadata.AuditEntry, next audit.State) error {
	t.mustWrite()
	if size := uint64(len(t.state.entries)); e.Number != size || next.Size != size+1 {
		return fmt.Errorf("metadatatest: entry %d does not follow %d entries", e.Number, size)
	}
	t.state.entries, t.state.log = append(t.state.entries, e), next
	return nil
}

func (t auditLog) Replace(e metadata.AuditEntry) error {
	t.mustWrite()
	t.state.entries[e.Number] = e
	return nil
}
