package tables

import (
	"labshelf/blobs"
	"labshelf/metadata"
)

var (
	dataspaceTable = table[metadata.Dataspace]{
		bucket: dataspacesBucket, fields: dataspaceFields,
		key:     func(d *metadata.Dataspace) []byte { return borrowedKey(&d.ID) },
		indexes: []index{{dataspaceNames, ownerInValue}, {dataspacesPublic, ownerInKey}},
		entries: func(d metadata.Dataspace) []entry {
			entries := []entry{{dataspaceNames, nameKey(d.Name), idKey(d.ID)}}
			if d.Visibility.ToUsers() { // public and open ones: whoever lists for a user wants both
				entries = append(entries, entry{dataspacesPublic, idKey(d.ID), nil})
			}
			return entries
		},
	}
	setTable = table[metadata.Set]{
		bucket: setsBucket, fields: setFields,
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
	resourceTable = table[metadata.Resource]{
		bucket: resourcesBucket, fields: resourceFields,
		key: func(r *metadata.Resource) []byte { return borrowedKey(&r.ID) },
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
	versionTable = table[metadata.Version]{
		bucket: versionsBucket, fields: versionFields,
		key:     func(v *metadata.Version) []byte { return versionKey(v.Key()) },
		entries: func(v metadata.Version) []entry { return versionEntries(v, blobRefs) },
	}
	// versionTable8 is versionTable in a file of schema 8, which is only read.
	versionTable8 = table[metadata.Version]{
		bucket: versionsBucket, fields: versionFields, key: versionTable.key,
		indexes: []index{{versionRefs, ownerOfRef}},
		entries: func(v metadata.Version) []entry { return versionEntries(v, versionRefs) },
	}
	userTable = table[metadata.User]{
		bucket: usersBucket, fields: userFields,
		key:     func(u *metadata.User) []byte { return borrowedKey(&u.ID) },
		indexes: []index{{usernames, ownerInValue}},
		entries: func(u metadata.User) []entry { return []entry{{usernames, usernameKey(u.Username), idKey(u.ID)}} },
	}
	keyTable = table[metadata.Key]{
		bucket: keysBucket, fields: keyFields,
		key:     func(k *metadata.Key) []byte { return keyDigestKey(k.Digest) },
		indexes: []index{{keysByUser, ownerInValue}},
		entries: func(k metadata.Key) []entry {
			return []entry{{keysByUser, pairKey(k.UserID, k.ID), keyDigestKey(k.Digest)}}
		},
	}
	sessionTable = table[metadata.Session]{
		bucket: sessionsBucket, fields: sessionFields,
		key:     func(s *metadata.Session) []byte { return sessionKey(s.UserID, s.Digest) },
		entries: func(metadata.Session) []entry { return nil },
	}
	uploadTable = table[metadata.ResumableUpload]{
		bucket: uploadsBucket, fields: uploadFields,
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
	privilegeTable = table[metadata.Privilege]{
		bucket: privilegesBucket, fields: privilegeFields,
		key:     func(p *metadata.Privilege) []byte { return borrowedKey(&p.ID) },
		indexes: []index{{privilegesByDataspace, ownerInValue}, {privilegesByUser, ownerInValue}},
		entries: func(p metadata.Privilege) []entry {
			return []entry{
				{privilegesByDataspace, pairKey(p.DataspaceID, p.UserID), idKey(p.ID)},
				{privilegesByUser, pairKey(p.UserID, p.DataspaceID), idKey(p.ID)},
			}
		},
	}
	cascadeTable = table[metadata.Cascade]{
		bucket: cascadesBucket, fields: cascadeFields,
		key:     func(s *metadata.Cascade) []byte { return borrowedKey(&s.Container) },
		entries: func(metadata.Cascade) []entry { return nil },
	}
	blobTable = table[blobs.Blob]{
		bucket: blobsBucket, fields: blobFields,
		key:     func(b *blobs.Blob) []byte { return blobKey(b.Digest) },
		fromKey: func(b *blobs.Blob, key []byte) (ok bool) { b.Digest, ok = splitBlobKey(key); return ok },
		indexes: []index{{blobsByObject, ownerInValue}},
		entries: func(b blobs.Blob) []entry { return objectEntries(blobsByObject, b.Object, blobKey(b.Digest)) },
	}
	trashedTable = table[metadata.TrashedObject]{
		bucket: trashedBucket, fields: trashedFields,
		key:     func(o *metadata.TrashedObject) []byte { return objectKey(o.Key()) },
		indexes: []index{{trashedByObject, ownerInValue}},
		entries: func(o metadata.TrashedObject) []entry {
			return objectEntries(trashedByObject, o.Object, objectKey(o.Key()))
		},
	}
	damageTable = table[metadata.Damage]{
		bucket: blobsDamaged, fields: damageFields,
		key:     func(d *metadata.Damage) []byte { return blobKey(d.Digest) },
		entries: func(metadata.Damage) []entry { return nil },
	}
	unreferencedTable = table[metadata.Unreferenced]{
		bucket: blobsUnreferenced, fields: unreferencedFields,
		key:     func(u *metadata.Unreferenced) []byte { return blobKey(u.Digest) },
		entries: func(metadata.Unreferenced) []entry { return nil },
	}
	webhookTable = table[metadata.Webhook]{
		bucket: webhooksBucket, fields: webhookFields,
		key:     func(w *metadata.Webhook) []byte { return borrowedKey(&w.ID) },
		entries: func(metadata.Webhook) []entry { return nil },
	}
	deliveryTable = table[metadata.Delivery]{
		bucket: deliveriesBucket, fields: deliveryFields,
		key:     func(d *metadata.Delivery) []byte { return deliveryKey(d.Key()) },
		entries: func(metadata.Delivery) []entry { return nil },
	}
	descriptiveTable = table[metadata.Descriptive]{
		bucket: descriptiveBucket, fields: descriptiveFields,
		key:     func(d *metadata.Descriptive) []byte { return borrowedKey(&d.ObjectID) },
		entries: func(metadata.Descriptive) []entry { return nil },
	}
	schemaTable = table[metadata.Schema]{
		bucket: schemasBucket, fields: schemaRowFields,
		key:     func(s *metadata.Schema) []byte { return borrowedKey(&s.ID) },
		indexes: []index{{schemasByDataspace, ownerInKey}},
		entries: func(s metadata.Schema) []entry {
			return []entry{{schemasByDataspace, idIndexKey(containerScope(s.DataspaceID, s.State), s.ID), nil}}
		},
	}
	schemaVersionTable = table[metadata.SchemaVersion]{
		bucket: schemaVersionsBucket, fields: schemaVersionFields,
		key:     func(v *metadata.SchemaVersion) []byte { return schemaVersionKey(v.Key()) },
		entries: func(metadata.SchemaVersion) []entry { return nil },
	}
	editTable = table[metadata.BulkEdit]{
		bucket: editsBucket, fields: editFields,
		key:     func(e *metadata.BulkEdit) []byte { return borrowedKey(&e.ID) },
		indexes: []index{{editsBySet, ownerInKey}},
		entries: func(e metadata.BulkEdit) []entry { return []entry{{editsBySet, pairKey(e.SetID, e.ID), nil}} },
	}
	folderTable = table[metadata.Folder]{
		bucket: foldersBucket, fields: folderFields,
		key:     func(f *metadata.Folder) []byte { return folderKey(f.Key()) },
		entries: func(metadata.Folder) []entry { return nil },
	}
	userUsageTable = table[metadata.UserUsage]{
		bucket: usageByStorer, fields: userUsageFields,
		key:     func(u *metadata.UserUsage) []byte { return borrowedKey(&u.UserID) },
		entries: func(metadata.UserUsage) []entry { return nil },
	}
	filePropertiesTable = table[metadata.FileProperties]{
		bucket: filePropertiesBucket, fields: filePropertiesFields,
		key:     func(p *metadata.FileProperties) []byte { return borrowedKey(&p.ResourceID) },
		entries: func(metadata.FileProperties) []entry { return nil },
	}
	linkTable = table[metadata.Link]{
		bucket: linksBucket, fields: linkFields,
		key:     func(l *metadata.Link) []byte { return borrowedKey(&l.ID) },
		indexes: []index{{linksByDigest, ownerInValue}, {linksByDataspace, ownerInValue}, {linksByOwner, ownerInValue}},
		entries: func(l metadata.Link) []entry {
			return []entry{
				{linksByDigest, l.Digest[:], idKey(l.ID)},
				{linksByDataspace, pairKey(l.DataspaceID, l.ID), idKey(l.ID)}, {linksByOwner, pairKey(l.OwnerID, l.ID), idKey(l.ID)},
			}
		},
	}
	linkUseTable = table[metadata.LinkUse]{
		bucket: linkUsesBucket, fields: linkUseFields,
		key:     func(u *metadata.LinkUse) []byte { return borrowedKey(&u.LinkID) },
		entries: func(metadata.LinkUse) []entry { return nil },
	}
	leaseTable = table[metadata.Lease]{
		bucket: leasesBucket, fields: leaseFields,
		key:     func(l *metadata.Lease) []byte { return nameKey(l.Name) },
		entries: func(metadata.Lease) []entry { return nil },
	}
	nodeTable = table[metadata.Node]{
		bucket: nodesBucket, fields: nodeFields,
		key:     func(n *metadata.Node) []byte { return borrowedKey(&n.Instance) },
		entries: func(metadata.Node) []entry { return nil },
	}
)

// objectEntries is what tells that a row names an object; nothing where it names none, as those of
// a folder.
func objectEntries(in Bucket, object string, owner []byte) []entry {
	if object == "" {
		return nil
	}
	return []entry{{in, nameKey(object), owner}}
}

// versionEntries is the reference of a former version, in a bucket.
func versionEntries(v metadata.Version, in Bucket) []entry {
	if v.Body != metadata.InBlob {
		return nil
	}
	return []entry{{in, blobRefKey(v.Digest, v.ResourceID, v.Number), nil}}
}
