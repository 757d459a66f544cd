package tables

import (
	"iter"

	"labshelf/blobs"
	"labshelf/metadata"
)

// definition defines how the rows of a noun are stored. Its values have size 0.
type definition[K comparable, R any] interface{ table() *table[K, R] }

// rows is the table of a noun in a transaction. It is a single pointer, so that converting it to an
// interface needs no allocation.
type rows[K comparable, R any, N definition[K, R]] struct{ *Tx }

// of returns the table of a noun in a transaction.
func of[N definition[K, R], K comparable, R any](t *Tx) rows[K, R, N] { return rows[K, R, N]{t} }

func (r rows[K, R, N]) table() *table[K, R] {
	var n N
	return n.table()
}

func (r rows[K, R, N]) Get(key K) (R, error) {
	tb := r.table()
	return tb.get(r.Tx, tb.of(key))
}

func (r rows[K, R, N]) Put(row R) error { return r.table().put(r.Tx, row) }

func (r rows[K, R, N]) Remove(key K) error {
	tb := r.table()
	return tb.remove(r.Tx, tb.of(key))
}

func (r rows[K, R, N]) All(after K) iter.Seq2[R, error] {
	var none K
	tb := r.table()
	if after == none {
		return tb.all(r.Tx, span{})
	}
	return tb.all(r.Tx, span{lo: justAfter(tb.of(after))})
}

func (r rows[K, R, N]) Before(key K) iter.Seq2[R, error] {
	tb := r.table()
	hi := tb.of(key)
	return tb.backwards(r.Tx, span{lo: hi[:tb.first], hi: hi})
}

func (r rows[K, R, N]) From(key K) iter.Seq2[R, error] {
	tb := r.table()
	lo := tb.of(key)
	return tb.all(r.Tx, scopeSpan(lo[:tb.first]).from(lo))
}

type (
	dataspaceNoun      struct{}
	setNoun            struct{}
	versionNoun        struct{}
	userNoun           struct{}
	sessionNoun        struct{}
	uploadNoun         struct{}
	privilegeNoun      struct{}
	cascadeNoun        struct{}
	blobNoun           struct{}
	trashedNoun        struct{}
	damageNoun         struct{}
	unreferencedNoun   struct{}
	webhookNoun        struct{}
	deliveryNoun       struct{}
	descriptiveNoun    struct{}
	schemaNoun         struct{}
	schemaVersionNoun  struct{}
	editNoun           struct{}
	editEntryNoun      struct{}
	folderNoun         struct{}
	userUsageNoun      struct{}
	filePropertiesNoun struct{}
	linkNoun           struct{}
	linkUseNoun        struct{}
	leaseNoun          struct{}
	nodeNoun           struct{}
)

func (dataspaceNoun) table() *table[metadata.ID, metadata.Dataspace]          { return &dataspaceTable }
func (setNoun) table() *table[metadata.ID, metadata.Set]                      { return &setTable }
func (versionNoun) table() *table[metadata.VersionKey, metadata.Version]      { return &versionTable }
func (userNoun) table() *table[metadata.ID, metadata.User]                    { return &userTable }
func (sessionNoun) table() *table[metadata.SessionKey, metadata.Session]      { return &sessionTable }
func (uploadNoun) table() *table[metadata.ID, metadata.ResumableUpload]       { return &uploadTable }
func (privilegeNoun) table() *table[metadata.ID, metadata.Privilege]          { return &privilegeTable }
func (cascadeNoun) table() *table[metadata.ID, metadata.Cascade]              { return &cascadeTable }
func (blobNoun) table() *table[blobs.Digest, blobs.Blob]                      { return &blobTable }
func (trashedNoun) table() *table[metadata.ObjectKey, metadata.TrashedObject] { return &trashedTable }
func (damageNoun) table() *table[blobs.Digest, metadata.Damage]               { return &damageTable }
func (unreferencedNoun) table() *table[blobs.Digest, metadata.Unreferenced] {
	return &unreferencedTable
}
func (webhookNoun) table() *table[metadata.ID, metadata.Webhook]            { return &webhookTable }
func (deliveryNoun) table() *table[metadata.DeliveryKey, metadata.Delivery] { return &deliveryTable }
func (descriptiveNoun) table() *table[metadata.ID, metadata.Descriptive]    { return &descriptiveTable }
func (schemaNoun) table() *table[metadata.ID, metadata.Schema]              { return &schemaTable }
func (schemaVersionNoun) table() *table[metadata.SchemaVersionKey, metadata.SchemaVersion] {
	return &schemaVersionTable
}
func (editNoun) table() *table[metadata.ID, metadata.BulkEdit]              { return &editTable }
func (editEntryNoun) table() *table[metadata.EditEntry, metadata.EditEntry] { return &editEntryTable }
func (folderNoun) table() *table[metadata.FolderKey, metadata.Folder]       { return &folderTable }
func (userUsageNoun) table() *table[metadata.ID, metadata.UserUsage]        { return &userUsageTable }
func (filePropertiesNoun) table() *table[metadata.ID, metadata.FileProperties] {
	return &filePropertiesTable
}
func (linkNoun) table() *table[metadata.ID, metadata.Link]       { return &linkTable }
func (linkUseNoun) table() *table[metadata.ID, metadata.LinkUse] { return &linkUseTable }
func (leaseNoun) table() *table[string, metadata.Lease]          { return &leaseTable }
func (nodeNoun) table() *table[metadata.ID, metadata.Node]       { return &nodeTable }

// Contract returns the transaction in the form that package metadata defines.
func (t *Tx) Contract() *metadata.Tx {
	c := &metadata.Tx{
		Dataspaces: dataspaces{of[dataspaceNoun](t)}, Sets: sets{of[setNoun](t)}, Resources: resources{t},
		Versions: of[versionNoun](t), Users: users{of[userNoun](t)}, Keys: keys{t}, Sessions: sessions{of[sessionNoun](t)},
		Uploads: uploads{of[uploadNoun](t)}, Privileges: privileges{of[privilegeNoun](t)}, Cascades: of[cascadeNoun](t),
		Usage: usage{t}, UserUsage: of[userUsageNoun](t), Blobs: blobRows{of[blobNoun](t)}, Trashed: trashed{of[trashedNoun](t)},
		Damages: of[damageNoun](t), Unreferenced: unreferenced{of[unreferencedNoun](t)}, InlineBodies: inlineBodies{t},
		Scrub: scrub{t}, Filling: filling{t}, Lineage: lineage{t}, Audit: auditLog{t},
		Webhooks: of[webhookNoun](t), Deliveries: of[deliveryNoun](t), Descriptive: of[descriptiveNoun](t),
		Schemas: schemas{of[schemaNoun](t)}, SchemaVersions: of[schemaVersionNoun](t),
		Edits: edits{of[editNoun](t)}, EditEntries: of[editEntryNoun](t), Folders: of[folderNoun](t),
		FileProperties: of[filePropertiesNoun](t), Links: links{of[linkNoun](t)}, LinkUses: of[linkUseNoun](t),
		Leases: leases{of[leaseNoun](t)}, Nodes: of[nodeNoun](t),
		Now: readOnly, Stamp: readOnly, Access: t.access, Prefetch: fetchNothing,
	}
	// Each method value costs an allocation in every transaction.
	if t.writable {
		c.Now, c.Stamp = t.clock, t.stamp
	}
	if _, ok := t.kv.(Prefetcher); ok {
		c.Prefetch = t.prefetch
	}
	return c
}

// readOnly replaces the clock and the stamps in a read transaction, which has neither.
func readOnly() metadata.Stamp { panic(errReadOnly) }

// fetchNothing is Prefetch for engines that answer each read immediately.
func fetchNothing(func()) {}

const errReadOnly = "tables: change in a read transaction"
