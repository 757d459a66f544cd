package bolt

import "labshelf/metadata"

// These functions are the stored form of the nouns: the order of their calls is that of the fields in the record. Fields are never moved,
// removed or inserted; see record.go.

func (c *codec) stamp(s *metadata.Stamp) { c.int64((*int64)(s)) }

func recordFields(c *codec, r *metadata.Record) {
	c.fixed(r.ID[:])
	c.uint8((*uint8)(&r.State))
	c.stamp(&r.TakenBy)
	c.stamp(&r.Created)
	c.stamp(&r.Modified)
	c.fixed(r.CreatedBy[:])
	c.fixed(r.ModifiedBy[:])
}

func dataspaceFields(c *codec, d *metadata.Dataspace) {
	recordFields(c, &d.Record)
	c.text(&d.Name)
	c.text(&d.Title)
	c.text(&d.Description)
	c.uint8((*uint8)(&d.Visibility))
	c.text(&d.Origin)
	added(c, &d.Retention, retentionFields)
}

func setFields(c *codec, s *metadata.Set) {
	recordFields(c, &s.Record)
	c.fixed(s.DataspaceID[:])
	c.text(&s.Name)
	c.text(&s.Title)
	c.text(&s.Description)
}

func resourceFields(c *codec, r *metadata.Resource) {
	recordFields(c, &r.Record)
	c.fixed(r.SetID[:])
	c.fixed(r.DataspaceID[:])
	c.text(&r.Name)
	c.text(&r.Description)
	c.text(&r.Format)
	c.text(&r.MimeType)
	c.text(&r.Filename)
	c.fixed(r.Digest[:])
	c.int64(&r.Bytes)
	c.uint32(&r.Version)
	c.uint8((*uint8)(&r.Body))
	c.bad = c.bad || r.Body > metadata.Inline
	added(c, &r.Label, (*codec).text)
}

func versionFields(c *codec, v *metadata.Version) {
	c.fixed(v.ResourceID[:])
	c.uint32(&v.Number)
	c.text(&v.Name)
	c.text(&v.Description)
	c.text(&v.Format)
	c.text(&v.MimeType)
	c.text(&v.Filename)
	c.fixed(v.Digest[:])
	c.int64(&v.Bytes)
	c.uint8((*uint8)(&v.Body))
	c.bad = c.bad || v.Body > metadata.Inline
	c.stamp(&v.Created)
	c.fixed(v.CreatedBy[:])
	c.stamp(&v.Replaced)
	c.fixed(v.ReplacedBy[:])
	c.text(&v.Label)
	added(c, &v.Removed, removalFields)
}

func removalFields(c *codec, r *metadata.Removal) {
	c.stamp(&r.At)
	c.uint8((*uint8)(&r.Rule))
	c.fixed(r.By[:])
	retentionFields(c, &r.Kept)
}

func retentionFields(c *codec, k *metadata.Retention) {
	c.uint32(&k.Last)
	c.uint32(&k.Days)
}

func userFields(c *codec, u *metadata.User) {
	recordFields(c, &u.Record)
	c.text(&u.Username)
	c.text(&u.Fullname)
	c.text(&u.About)
	c.truth(&u.Sysadmin)
}

func keyFields(c *codec, k *metadata.Key) {
	c.fixed(k.ID[:])
	c.fixed(k.UserID[:])
	c.fixed(k.Digest[:])
	c.text(&k.Label)
	c.text(&k.Prefix)
	c.stamp(&k.Created)
	c.stamp(&k.Expires)
	c.stamp(&k.LastUsed)
	c.stamp(&k.Gone)
}

func sessionFields(c *codec, s *metadata.Session) {
	c.fixed(s.UserID[:])
	c.fixed(s.KeyID[:])
	c.fixed(s.Digest[:])
	c.stamp(&s.Created)
	c.stamp(&s.Expires)
}

func uploadFields(c *codec, t *metadata.ResumableUpload) {
	c.fixed(t.ID[:])
	c.fixed(t.UserID[:])
	c.fixed(t.SetID[:])
	c.fixed(t.ResourceID[:])
	c.stamp(&t.Created)
	c.stamp(&t.Expires)
	c.int64(&t.Length)
	c.int64(&t.Checkpoint.Size)
	c.text(&t.Checkpoint.Hash)
	c.fixed(t.Digest[:])
	c.text(&t.Name)
	c.text(&t.Format)
	c.text(&t.Description)
	c.text(&t.Filename)
	c.text(&t.ContentType)
	c.fixed(t.Expected[:])
	c.text(&t.Match)
	c.text(&t.Announced)
	c.fixed(t.Made[:])
	c.uint8((*uint8)(&t.Refusal.Kind))
	c.text((*string)(&t.Refusal.Code))
	c.text(&t.Refusal.Field)
	c.text(&t.Refusal.Message)
}

func privilegeFields(c *codec, p *metadata.Privilege) {
	recordFields(c, &p.Record)
	c.fixed(p.UserID[:])
	c.fixed(p.DataspaceID[:])
	c.uint8((*uint8)(&p.Role))
}

func cascadeFields(c *codec, s *metadata.Cascade) {
	c.fixed(s.Container[:])
	c.fixed(s.DataspaceID[:])
	c.truth(&s.Restore)
	c.fixed(s.By[:])
	c.stamp(&s.Deletion)
	c.stamp(&s.Begun)
	c.fixed(s.AfterSet[:])
	c.stamp(&s.AfterStamp)
}

func countersFields(c *codec, n *metadata.Counters) {
	c.int64(&n.ActiveFiles)
	c.int64(&n.ActiveBytes)
	c.int64(&n.DeletedFiles)
	c.int64(&n.DeletedBytes)
	old := [2]int64{n.OldVersions, n.OldBytes}
	added(c, &old, func(c *codec, old *[2]int64) {
		c.int64(&old[0])
		c.int64(&old[1])
	})
	n.OldVersions, n.OldBytes = old[0], old[1]
}

func sizeFields(c *codec, bytes *int64) { c.int64(bytes) }

func damageFields(c *codec, d *metadata.Damage) {
	c.fixed(d.Digest[:])
	c.stamp(&d.Found)
	c.text(&d.What)
}

func unreferencedFields(c *codec, u *metadata.Unreferenced) {
	c.fixed(u.Digest[:])
	c.int64(&u.Bytes)
	c.stamp(&u.Since)
	c.stamp(&u.Seen)
}

func blobCountFields(c *codec, n *metadata.BlobCount) {
	c.int64(&n.Blobs)
	c.int64(&n.Bytes)
}

func scrubFields(c *codec, s *metadata.ScrubState) {
	c.fixed(s.After[:])
	c.stamp(&s.Begun)
	c.int64(&s.Checked)
	c.int64(&s.Found)
	c.int64(&s.Passes)
}

func epochFields(c *codec, e *metadata.Epoch) {
	c.fixed(e.ID[:])
	c.stamp(&e.Base)
	c.stamp(&e.Began)
}

// bodyFields is all of a body: there is no text before or behind it.
func bodyFields(c *codec, body *[]byte) { c.rest(body) }

func bodyCountFields(c *codec, n *metadata.BodyCount) {
	c.int64(&n.Bodies)
	c.int64(&n.Bytes)
}

func schemaFields(c *codec, version *uint32) { c.uint32(version) }

func lastStampFields(c *codec, last *metadata.Stamp) { c.stamp(last) }

func secretFields(c *codec, secret *[32]byte) { c.fixed(secret[:]) }
