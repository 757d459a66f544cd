package metadatatest

import (
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
	access         uint64 // version of the access rows
	dataspaces     map[metadata.ID]metadata.Dataspace
	sets           map[metadata.ID]metadata.Set
	resources      map[metadata.ID]metadata.Resource
	versions       map[metadata.VersionKey]metadata.Version
	users          map[metadata.ID]metadata.User
	keys           map[metadata.ID]metadata.Key
	sessions       map[metadata.SessionKey]metadata.Session
	uploads        map[metadata.ID]metadata.ResumableUpload
	privileges     map[metadata.ID]metadata.Privilege
	cascades       map[metadata.ID]metadata.Cascade
	usage          map[metadata.ID]metadata.Counters
	days           map[usageKey]usageRow
	blobs          map[blobs.Digest]blobs.Blob
	trashed        map[metadata.ObjectKey]metadata.TrashedObject
	damages        map[blobs.Digest]metadata.Damage
	unreferenced   map[blobs.Digest]metadata.Unreferenced
	bodies         map[metadata.VersionKey]bodyRow
	webhooks       map[metadata.ID]metadata.Webhook
	deliveries     map[metadata.DeliveryKey]metadata.Delivery
	descriptive    map[metadata.ID]metadata.Descriptive
	schemas        map[metadata.ID]metadata.Schema
	schemaVersions map[metadata.SchemaVersionKey]metadata.SchemaVersion
	edits          map[metadata.ID]metadata.BulkEdit
	editEntries    map[metadata.EditEntry]metadata.EditEntry
	folders        map[metadata.FolderKey]metadata.Folder
	properties     map[metadata.ID]metadata.FileProperties
	links          map[metadata.ID]metadata.Link
	linkUses       map[metadata.ID]metadata.LinkUse
	userUsage      map[metadata.ID]metadata.UserUsage
	leases         map[string]metadata.Lease
	nodes          map[metadata.ID]metadata.Node
	scrub          metadata.ScrubState
	filling        metadata.FillState
	epoch          metadata.Epoch
	entries        []metadata.AuditEntry
	log            audit.State
}

func newState(now time.Time) *state {
	s := &state{access: 1}
	if err := s.tx(func() time.Time { return now }, s).SetEpoch(metadata.NewEpoch(0, now)); err != nil {
		panic(err) // nothing here fails
	}
	return s
}

// clone returns a state that can be changed independently. A transaction copies the maps that it
// changes.
func (s *state) clone() *state {
	c := *s
	c.entries = slices.Clone(s.entries)
	return &c
}

// decidesAs reports whether both states decide permissions in the same way.
func (s *state) decidesAs(o *state) bool {
	return maps.Equal(s.users, o.users) && maps.Equal(s.privileges, o.privileges) && maps.Equal(s.dataspaces, o.dataspaces) &&
		maps.Equal(s.sets, o.sets) && maps.Equal(s.cascades, o.cascades) && maps.Equal(s.sessions, o.sessions) &&
		maps.EqualFunc(s.keys, o.keys, func(a, b metadata.Key) bool {
			a.LastUsed = b.LastUsed
			return a == b
		})
}

// tx returns the tables of this state. A write transaction has a clock, and last is the state
// before it. A read transaction has no clock.
func (s *state) tx(now func() time.Time, last *state) *metadata.Tx {
	mode := access{writes: now != nil, copied: map[any]bool{}}
	tx := s.tables(mode)
	tx.Now = func() metadata.Stamp {
		mode.mustWrite()
		return metadata.Stamp(now().UnixMicro())
	}
	tx.Stamp = func() metadata.Stamp {
		mode.mustWrite()
		s.last = metadata.NextStamp(s.last, now())
		return s.last
	}
	tx.Access = func() uint64 {
		if s != last && !s.decidesAs(last) {
			return 0
		}
		return last.access
	}
	tx.Prefetch = func(func()) {}
	return tx
}

// tables returns the tables of a transaction.
func (s *state) tables(mode access) *metadata.Tx {
	made := tableOf(mode, &s.folders, metadata.Folder.Key)
	files := resources{tableOf(mode, &s.resources, func(r metadata.Resource) metadata.ID { return r.ID }), made}
	former := tableOf(mode, &s.versions, metadata.Version.Key)
	stored := blobRows{tableOf(mode, &s.blobs, func(b blobs.Blob) blobs.Digest { return b.Digest }), files, former}
	return &metadata.Tx{
		Dataspaces:     dataspaces{tableOf(mode, &s.dataspaces, func(d metadata.Dataspace) metadata.ID { return d.ID })},
		Sets:           sets{tableOf(mode, &s.sets, func(s metadata.Set) metadata.ID { return s.ID })},
		Resources:      files,
		Versions:       former,
		Users:          users{tableOf(mode, &s.users, func(u metadata.User) metadata.ID { return u.ID })},
		Keys:           keys{tableOf(mode, &s.keys, func(k metadata.Key) metadata.ID { return k.ID })},
		Sessions:       sessions{tableOf(mode, &s.sessions, metadata.Session.Key)},
		Uploads:        uploads{tableOf(mode, &s.uploads, func(u metadata.ResumableUpload) metadata.ID { return u.ID })},
		Privileges:     privileges{tableOf(mode, &s.privileges, func(p metadata.Privilege) metadata.ID { return p.ID })},
		Cascades:       tableOf(mode, &s.cascades, func(c metadata.Cascade) metadata.ID { return c.Container }),
		Usage:          usage{tableOf(mode, &s.days, func(row usageRow) usageKey { return usageKey{row.Dataspace, row.Day} }), tableOf(mode, &s.usage, func(metadata.Counters) metadata.ID { panic("no key") })},
		UserUsage:      tableOf(mode, &s.userUsage, func(u metadata.UserUsage) metadata.ID { return u.UserID }),
		Blobs:          stored,
		Trashed:        trashed{tableOf(mode, &s.trashed, metadata.TrashedObject.Key), stored},
		Damages:        tableOf(mode, &s.damages, func(d metadata.Damage) blobs.Digest { return d.Digest }),
		Unreferenced:   unreferenced{tableOf(mode, &s.unreferenced, func(u metadata.Unreferenced) blobs.Digest { return u.Digest })},
		InlineBodies:   bodies{tableOf(mode, &s.bodies, func(row bodyRow) metadata.VersionKey { return row.VersionKey })},
		Scrub:          single[metadata.ScrubState]{mode, &s.scrub},
		Filling:        single[metadata.FillState]{mode, &s.filling},
		Lineage:        lineage{mode, s},
		Audit:          auditLog{mode, s},
		Webhooks:       tableOf(mode, &s.webhooks, func(w metadata.Webhook) metadata.ID { return w.ID }),
		Deliveries:     tableOf(mode, &s.deliveries, metadata.Delivery.Key),
		Descriptive:    tableOf(mode, &s.descriptive, func(d metadata.Descriptive) metadata.ID { return d.ObjectID }),
		Schemas:        schemas{tableOf(mode, &s.schemas, func(s metadata.Schema) metadata.ID { return s.ID })},
		SchemaVersions: tableOf(mode, &s.schemaVersions, metadata.SchemaVersion.Key),
		Edits:          edits{tableOf(mode, &s.edits, func(e metadata.BulkEdit) metadata.ID { return e.ID })},
		EditEntries:    tableOf(mode, &s.editEntries, func(e metadata.EditEntry) metadata.EditEntry { return e }),
		Folders:        made,
		FileProperties: tableOf(mode, &s.properties, func(p metadata.FileProperties) metadata.ID { return p.ResourceID }),
		Links:          links{tableOf(mode, &s.links, func(l metadata.Link) metadata.ID { return l.ID })},
		LinkUses:       tableOf(mode, &s.linkUses, func(u metadata.LinkUse) metadata.ID { return u.LinkID }),
		Leases:         leases{tableOf(mode, &s.leases, func(l metadata.Lease) string { return l.Name })},
		Nodes:          tableOf(mode, &s.nodes, func(n metadata.Node) metadata.ID { return n.Instance }),
	}
}

// bodies are stored as strings, so that callers cannot change them.
type bodies struct {
	table[metadata.VersionKey, bodyRow]
}

func (t bodies) Get(of metadata.VersionKey) ([]byte, error) {
	row, err := t.table.Get(of)
	return []byte(row.Body), err
}

func (t bodies) Put(of metadata.VersionKey, body []byte) error {
	return t.table.Put(bodyRow{of, string(body)})
}

func (t bodies) All(after metadata.VersionKey) iter.Seq2[metadata.VersionKey, error] {
	return fields(t.table.All(after), func(row bodyRow) metadata.VersionKey { return row.VersionKey })
}

func (t bodies) Total() (total metadata.BodyCount, err error) {
	for _, row := range *t.rows {
		total.Bodies++
		total.Bytes += int64(len(row.Body))
	}
	return total, nil
}

// single is a table with one row.
type single[R any] struct {
	access
	row *R
}

func (t single[R]) Get() (R, error) { return *t.row, nil }

func (t single[R]) Put(row R) error {
	t.mustWrite()
	*t.row = row
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
