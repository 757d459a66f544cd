package tables

import (
	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
)

var (
	dataspaceTable = table[metadata.ID, metadata.Dataspace]{
		of: idKey, bucket: dataspacesBucket, fields: dataspaceFields,
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
	versionTable = table[metadata.VersionKey, metadata.Version]{
		of: versionKey, bucket: versionsBucket, first: idSize, fields: versionFields,
		key:     func(v *metadata.Version) []byte { return versionKey(v.Key()) },
		entries: func(v metadata.Version) []entry { return versionEntries(v, blobRefs) },
	}
	// versionTable8 is the versionTable of schema 8, which is only read.
	versionTable8 = table[metadata.VersionKey, metadata.Version]{
		of: versionKey, bucket: versionsBucket, first: idSize, fields: versionFields, key: versionTable.key,
		indexes: []index{{versionRefs, ownerOfRef}},
		entries: func(v metadata.Version) []entry { return versionEntries(v, versionRefs) },
	}
	userTable = table[metadata.ID, metadata.User]{
		of: idKey, bucket: usersBucket, fields: userFields,
		key:     func(u *metadata.User) []byte { return borrowedKey(&u.ID) },
		indexes: []index{{usernames, ownerInValue}},
		entries: func(u metadata.User) []entry { return []entry{{usernames, usernameKey(u.Username), idKey(u.ID)}} },
	}
	keyTable = table[auth.KeyDigest, metadata.Key]{
		of: keyDigestKey, bucket: keysBucket, fields: keyFields,
		key:     func(k *metadata.Key) []byte { return keyDigestKey(k.Digest) },
		indexes: []index{{keysByUser, ownerInValue}},
		entries: func(k metadata.Key) []entry {
			return []entry{{keysByUser, pairKey(k.UserID, k.ID), keyDigestKey(k.Digest)}}
		},
	}
	sessionTable = table[metadata.SessionKey, metadata.Session]{
		of: sessionKey, bucket: sessionsBucket, fields: sessionFields,
		key: func(s *metadata.Session) []byte { return sessionKey(s.Key()) },
	}
	uploadTable = table[metadata.ID, metadata.ResumableUpload]{
		of: idKey, bucket: uploadsBucket, fields: uploadFields,
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
		key: func(s *metadata.Cascade) []byte { return borrowedKey(&s.Container) },
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
		key: func(w *metadata.Webhook) []byte { return borrowedKey(&w.ID) },
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
		key:     func(s *metadata.Schema) []byte { return borrowedKey(&s.ID) },
		indexes: []index{{schemasByDataspace, ownerInKey}},
		entries: func(s metadata.Schema) []entry {
			return []entry{{schemasByDataspace, idIndexKey(containerScope(s.DataspaceID, s.State), s.ID), nil}}
		},
	}
	schemaVersionTable = table[metadata.SchemaVersionKey, metadata.SchemaVersion]{
		of: schemaVersionKey, bucket: schemaVersionsBucket, first: idSize, fields: schemaVersionFields,
		key: func(v *metadata.SchemaVersion) []byte { return schemaVersionKey(v.Key()) },
	}
	editTable = table[metadata.ID, metadata.BulkEdit]{
		of: idKey, bucket: editsBucket, fields: editFields,
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
		key: func(l *metadata.Lease) []byte { return nameKey(l.Name) },
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

// versionEntries returns the reference of a former version, in a bucket.
func versionEntries(v metadata.Version, in Bucket) []entry {
	if v.Body != metadata.InBlob {
		return nil
	}
	return []entry{{in, blobRefKey(v.Digest, v.ResourceID, v.Number), nil}}
}
