package tables

import (
	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
)

var (
	dataspaceTable = table[metadata.ID, metadata.Dataspace]{
		of: idKey, bucket: dataspacesBucket, fields: dataspaceFields,
		changed: func(d metadata.Dataspace) metadata.Stamp { return d.Modified },
		key:     func(d *metadata.Dataspace) []byte { return borrowedKey(&d.ID) },
		indexes: []index{{dataspaceNames, ownerInValue}, {dataspacesPublic, ownerInKey}},
		entries: func(d metadata.Dataspace) []entry {
			entries := []entry{{dataspaceNames, nameKey(d.Name), idKey(d.ID)}}
			if d.Visibility.ToUsers() { // public and open ones: listings for a user need both
				entries = append(entries, entry{dataspacesPublic, idKey(d.ID), nil})
			}
			return entries
		},
	}
	setTable = table[metadata.ID, metadata.Set]{
		of: idKey, bucket: setsBucket, fields: setFields,
		changed: func(s metadata.Set) metadata.Stamp { return s.Modified },
		key:     func(s *metadata.Set) []byte { return borrowedKey(&s.ID) },
		indexes: []index{{setNames, ownerInValue}, {setsByState, ownerInKey}, {setsByDataspace, ownerInKey}},
		entries: func(s metadata.Set) []entry {
			return []entry{
				{setNames, nameKey(s.Name), idKey(s.ID)},
				{setsByState, idIndexKey(stateScope(s.State), s.ID), nil},
				{setsByDataspace, idIndexKey(containerScope(s.DataspaceID, s.State), s.ID), nil},
			}
		},
	}
	resourceTable = table[metadata.ID, metadata.Resource]{
		of: idKey, bucket: resourcesBucket, fields: resourceFields,
		changed: func(r metadata.Resource) metadata.Stamp { return r.Modified },
		key:     func(r *metadata.Resource) []byte { return borrowedKey(&r.ID) },
		indexes: []index{
			{resourcesByTime, ownerInKey}, {resourcesByDataspace, ownerInKey}, {resourcesBySet, ownerInKey},
			{resourcesByName, ownerInKey},
		},
		entries: func(r metadata.Resource) []entry {
			entries := []entry{
				{resourcesByTime, timeIndexKey(stateScope(r.State), r.Modified, r.ID), nil},
				{resourcesByDataspace, timeIndexKey(containerScope(r.DataspaceID, r.State), r.Modified, r.ID), nil},
				{resourcesBySet, timeIndexKey(containerScope(r.SetID, r.State), r.Modified, r.ID), nil},
				{resourcesByName, nameIndexKey(containerScope(r.SetID, r.State), r.Name, r.ID), nil},
			}
			if r.Body == metadata.InBlob {
				entries = append(entries, entry{blobRefs, blobRefKey(r.Digest, r.ID, r.Version), nil})
			}
			return entries
		},
	}
	versionTable = table[metadata.VersionKey, metadata.Version]{
		of: versionKey, bucket: versionsBucket, first: idSize, fields: versionFields,
		changed: func(v metadata.Version) metadata.Stamp { return max(v.Replaced, v.Removed.At) },
		key:     func(v *metadata.Version) []byte { return versionKey(v.Key()) },
		entries: versionEntries,
	}
	userTable = table[metadata.ID, metadata.User]{
		of: idKey, bucket: usersBucket, fields: userFields,
		changed: func(u metadata.User) metadata.Stamp { return u.Modified },
		key:     func(u *metadata.User) []byte { return borrowedKey(&u.ID) },
		indexes: []index{{usernames, ownerInValue}},
		entries: func(u metadata.User) []entry { return []entry{{usernames, usernameKey(u.Username), idKey(u.ID)}} },
	}
	keyTable = table[auth.KeyDigest, metadata.Key]{
		of: keyDigestKey, bucket: keysBucket, fields: keyFields,
		changed: func(k metadata.Key) metadata.Stamp { return k.Created },
		key:     func(k *metadata.Key) []byte { return keyDigestKey(k.Digest) },
		indexes: []index{{keysByUser, ownerInValue}},
		entries: func(k metadata.Key) []entry {
			return []entry{{keysByUser, pairKey(k.UserID, k.ID), keyDigestKey(k.Digest)}}
		},
	}
	sessionTable = table[metadata.SessionKey, metadata.Session]{
		of: sessionKey, bucket: sessionsBucket, fields: sessionFields,
		changed: func(s metadata.Session) metadata.Stamp { return s.Created },
		key:     func(s *metadata.Session) []byte { return sessionKey(s.Key()) },
	}
	uploadTable = table[metadata.ID, metadata.ResumableUpload]{
		of: idKey, bucket: uploadsBucket, fields: uploadFields,
		changed: func(t metadata.ResumableUpload) metadata.Stamp { return t.Created },
		key:     func(t *metadata.ResumableUpload) []byte { return borrowedKey(&t.ID) },
		indexes: []index{{uploadsByEnd, ownerInKey}, {uploadsByDigest, ownerInKey}},
		entries: func(t metadata.ResumableUpload) []entry {
			entries := []entry{{uploadsByEnd, timeIndexKey(nil, t.Expires, t.ID), nil}}
			if t.Pending() {
				entries = append(entries, entry{uploadsByDigest, digestIDKey(t.Digest, t.ID), nil})
			}
			return entries
		},
	}
	privilegeTable = table[metadata.ID, metadata.Privilege]{
		of: idKey, bucket: privilegesBucket, fields: privilegeFields,
		changed: func(p metadata.Privilege) metadata.Stamp { return p.Modified },
		key:     func(p *metadata.Privilege) []byte { return borrowedKey(&p.ID) },
		indexes: []index{{privilegesByDataspace, ownerInValue}, {privilegesByUser, ownerInValue}},
		entries: func(p metadata.Privilege) []entry {
			return []entry{
				{privilegesByDataspace, pairKey(p.DataspaceID, p.UserID), idKey(p.ID)},
				{privilegesByUser, pairKey(p.UserID, p.DataspaceID), idKey(p.ID)},
			}
		},
	}
	cascadeTable = table[metadata.ID, metadata.Cascade]{
		of: idKey, bucket: cascadesBucket, fields: cascadeFields,
		changed: func(s metadata.Cascade) metadata.Stamp { return s.Begun },
		key:     func(s *metadata.Cascade) []byte { return borrowedKey(&s.Container) },
	}
	blobTable = table[blobs.Digest, blobs.Blob]{
		of: blobKey, bucket: blobsBucket, fields: blobFields,
		key:     func(b *blobs.Blob) []byte { return blobKey(b.Digest) },
		fromKey: func(b *blobs.Blob, key []byte) (ok bool) { b.Digest, ok = splitBlobKey(key); return ok },
		indexes: []index{{blobsByObject, ownerInValue}},
		entries: func(b blobs.Blob) []entry { return objectEntries(blobsByObject, b.Object, blobKey(b.Digest)) },
	}
	trashedTable = table[metadata.ObjectKey, metadata.TrashedObject]{
		of: objectKey, bucket: trashedBucket, fields: trashedFields,
		changed: func(o metadata.TrashedObject) metadata.Stamp { return o.Since },
		key:     func(o *metadata.TrashedObject) []byte { return objectKey(o.Key()) },
		indexes: []index{{trashedByObject, ownerInValue}},
		entries: func(o metadata.TrashedObject) []entry {
			return objectEntries(trashedByObject, o.Object, objectKey(o.Key()))
		},
	}
	damageTable = table[blobs.Digest, metadata.Damage]{
		of: blobKey, bucket: blobsDamaged, fields: damageFields,
		key: func(d *metadata.Damage) []byte { return blobKey(d.Digest) },
	}
	unreferencedTable = table[blobs.Digest, metadata.Unreferenced]{
		of: blobKey, bucket: blobsUnreferenced, fields: unreferencedFields,
		key: func(u *metadata.Unreferenced) []byte { return blobKey(u.Digest) },
	}
	webhookTable = table[metadata.ID, metadata.Webhook]{
		of: idKey, bucket: webhooksBucket, fields: webhookFields,
		changed: func(w metadata.Webhook) metadata.Stamp { return w.Modified },
		key:     func(w *metadata.Webhook) []byte { return borrowedKey(&w.ID) },
	}
	deliveryTable = table[metadata.DeliveryKey, metadata.Delivery]{
		of: deliveryKey, bucket: deliveriesBucket, first: idSize, fields: deliveryFields,
		key: func(d *metadata.Delivery) []byte { return deliveryKey(d.Key()) },
	}
	descriptiveTable = table[metadata.ID, metadata.Descriptive]{
		of: idKey, bucket: descriptiveBucket, fields: descriptiveFields,
		key: func(d *metadata.Descriptive) []byte { return borrowedKey(&d.ObjectID) },
	}
	schemaTable = table[metadata.ID, metadata.Schema]{
		of: idKey, bucket: schemasBucket, fields: schemaRowFields,
		changed: func(s metadata.Schema) metadata.Stamp { return s.Modified },
		key:     func(s *metadata.Schema) []byte { return borrowedKey(&s.ID) },
		indexes: []index{{schemasByDataspace, ownerInKey}},
		entries: func(s metadata.Schema) []entry {
			return []entry{{schemasByDataspace, idIndexKey(containerScope(s.DataspaceID, s.State), s.ID), nil}}
		},
	}
	schemaVersionTable = table[metadata.SchemaVersionKey, metadata.SchemaVersion]{
		of: schemaVersionKey, bucket: schemaVersionsBucket, first: idSize, fields: schemaVersionFields,
		changed: func(v metadata.SchemaVersion) metadata.Stamp { return v.Created },
		key:     func(v *metadata.SchemaVersion) []byte { return schemaVersionKey(v.Key()) },
	}
	editTable = table[metadata.ID, metadata.BulkEdit]{
		of: idKey, bucket: editsBucket, fields: editFields,
		changed: func(e metadata.BulkEdit) metadata.Stamp { return e.Created },
		key:     func(e *metadata.BulkEdit) []byte { return borrowedKey(&e.ID) },
		indexes: []index{{editsBySet, ownerInKey}},
		entries: func(e metadata.BulkEdit) []entry { return []entry{{editsBySet, pairKey(e.SetID, e.ID), nil}} },
	}
	editEntryTable = table[metadata.EditEntry, metadata.EditEntry]{
		of: editEntryKey, bucket: editEntries, first: idSize, fields: editEntryFields,
		key:     func(e *metadata.EditEntry) []byte { return editEntryKey(*e) },
		fromKey: func(e *metadata.EditEntry, key []byte) (ok bool) { *e, ok = splitEditEntryKey(key); return ok },
	}
	folderTable = table[metadata.FolderKey, metadata.Folder]{
		of: folderKey, bucket: foldersBucket, first: idSize, fields: folderFields,
		key: func(f *metadata.Folder) []byte { return folderKey(f.Key()) },
	}
	userUsageTable = table[metadata.ID, metadata.UserUsage]{
		of: idKey, bucket: usageByStorer, fields: userUsageFields,
		key: func(u *metadata.UserUsage) []byte { return borrowedKey(&u.UserID) },
	}
	filePropertiesTable = table[metadata.ID, metadata.FileProperties]{
		of: idKey, bucket: filePropertiesBucket, fields: filePropertiesFields,
		key: func(p *metadata.FileProperties) []byte { return borrowedKey(&p.ResourceID) },
	}
	linkTable = table[metadata.ID, metadata.Link]{
		of: idKey, bucket: linksBucket, fields: linkFields,
		changed: func(l metadata.Link) metadata.Stamp { return l.Modified },
		key:     func(l *metadata.Link) []byte { return borrowedKey(&l.ID) },
		indexes: []index{{linksByDigest, ownerInValue}, {linksByDataspace, ownerInValue}, {linksByOwner, ownerInValue}},
		entries: func(l metadata.Link) []entry {
			return []entry{
				{linksByDigest, l.Digest[:], idKey(l.ID)},
				{linksByDataspace, pairKey(l.DataspaceID, l.ID), idKey(l.ID)}, {linksByOwner, pairKey(l.OwnerID, l.ID), idKey(l.ID)},
			}
		},
	}
	linkUseTable = table[metadata.ID, metadata.LinkUse]{
		of: idKey, bucket: linkUsesBucket, fields: linkUseFields,
		key: func(u *metadata.LinkUse) []byte { return borrowedKey(&u.LinkID) },
	}
	leaseTable = table[string, metadata.Lease]{
		of: nameKey, bucket: leasesBucket, fields: leaseFields,
		changed: func(l metadata.Lease) metadata.Stamp { return l.Fence },
		key:     func(l *metadata.Lease) []byte { return nameKey(l.Name) },
	}
	nodeTable = table[metadata.ID, metadata.Node]{
		of: idKey, bucket: nodesBucket, fields: nodeFields,
		key: func(n *metadata.Node) []byte { return borrowedKey(&n.Instance) },
	}
)

// objectEntries returns the entry that maps an object to its row. It returns none if the row names
// no object, for example in a folder.
func objectEntries(in Bucket, object string, owner []byte) []entry {
	if object == "" {
		return nil
	}
	return []entry{{in, nameKey(object), owner}}
}

// versionEntries returns the reference of a former version.
func versionEntries(v metadata.Version) []entry {
	if v.Body != metadata.InBlob {
		return nil
	}
	return []entry{{blobRefs, blobRefKey(v.Digest, v.ResourceID, v.Number), nil}}
}

// everyTable contains the tables of all nouns, for checks.
var everyTable = []interface{ check(*checker) }{
	&dataspaceTable, &setTable, &resourceTable, &versionTable, &userTable, &keyTable, &sessionTable,
	&uploadTable, &privilegeTable, &cascadeTable, &blobTable, &trashedTable, &damageTable, &unreferencedTable,
	&webhookTable, &deliveryTable, &descriptiveTable, &schemaTable, &schemaVersionTable, &editTable,
	&editEntryTable, &folderTable, &filePropertiesTable, &linkTable, &linkUseTable, &leaseTable, &nodeTable,
	&userUsageTable,
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
