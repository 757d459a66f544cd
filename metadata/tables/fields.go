package tables

import (
	"math/bits"

	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// These functions define the stored form of the nouns: the order of their calls is the order of the
// fields in the record. Fields are never moved, removed or inserted; see record.go.

func (c *codec) stamp(s *metadata.Stamp) { c.int64((*int64)(s)) }

func idField(c *codec, id *metadata.ID) { c.fixed(id[:]) }

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
	addedInThree(c, &d.Retention, retentionFields, &d.Entry, (*codec).uint64, &d.Quota, (*codec).int64)
}

func setFields(c *codec, s *metadata.Set) {
	recordFields(c, &s.Record)
	c.fixed(s.DataspaceID[:])
	c.text(&s.Name)
	c.text(&s.Title)
	c.text(&s.Description)
	addedThen(c, &s.Entry, (*codec).uint64, (*uint8)(&s.Extract), (*codec).uint8)
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
	addedInThree(c, &r.Label, (*codec).text, &r.Entry, (*codec).uint64, &r.Passage, passageFields)
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
	addedThen(c, &v.Removed, removalFields, &v.StoredBy, idFields)
}

func removalFields(c *codec, r *metadata.Removal) {
	c.stamp(&r.At)
	c.uint8((*uint8)(&r.Rule))
	c.fixed(r.By[:])
	retentionFields(c, &r.Kept)
}

func passageFields(c *codec, p *metadata.Passage) {
	c.fixed(p.MovedTo[:])
	c.fixed(p.LinkID[:])
	added(c, &p.StoredBy, idFields)
}

func idFields(c *codec, id *metadata.ID) { c.fixed(id[:]) }

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
	addedThen(c, &u.Entry, (*codec).uint64, &u.Quota, (*codec).int64)
}

func uploadFields(c *codec, t *metadata.ResumableUpload) {
	c.fixed(t.ID[:])
	c.fixed(t.SenderID[:])
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
	addedThen(c, &t.Descriptive, (*codec).text, &t.Checkpoint.Parts, (*codec).text)
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
	added(c, &s.Entry, (*codec).uint64)
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

func userUsageFields(c *codec, u *metadata.UserUsage) {
	c.fixed(u.UserID[:])
	c.int64(&u.Bytes)
}

// blobFields omits the digest, which is the key.
func blobFields(c *codec, b *blobs.Blob) {
	c.int64(&b.Size)
	added(c, &b.Object, (*codec).text)
}

func trashedFields(c *codec, o *metadata.TrashedObject) {
	c.fixed(o.Digest[:])
	c.text(&o.Object)
	c.int64(&o.Size)
	c.stamp(&o.Since)
}

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

func fillFields(c *codec, s *metadata.FillState) {
	c.uint64(&s.Arrivals)
	c.uint64(&s.Switches)
	c.text(&s.AfterName)
	c.fixed(s.AfterID[:])
}

func webhookFields(c *codec, w *metadata.Webhook) {
	recordFields(c, &w.Record)
	c.fixed(w.DataspaceID[:])
	c.text(&w.URL)
	c.text(&w.Label)
	c.text(&w.Events)
	c.text(&w.Secret)
	c.text(&w.FormerSecret)
	c.stamp(&w.FormerUntil)
	c.uint64(&w.Position)
	c.fixed(w.Epoch[:])
	c.uint64(&w.Deliveries)
	c.uint32(&w.Tries)
	c.stamp(&w.NextTry)
	c.stamp(&w.Paused)
	c.uint8((*uint8)(&w.PauseReason))
	c.text(&w.PausedBecause)
	c.uint64(&w.Entry)
	added(c, &w.MadeWith, idField)
}

func deliveryFields(c *codec, d *metadata.Delivery) {
	c.fixed(d.WebhookID[:])
	c.uint64(&d.Number)
	c.uint64(&d.Entry)
	c.text(&d.MessageID)
	c.text(&d.Event)
	c.uint32(&d.Tries)
	c.stamp(&d.First)
	c.stamp(&d.Last)
	c.int64(&d.Status)
	c.int64(&d.Micros)
	c.text(&d.Error)
	c.text(&d.Answer)
	c.truth(&d.Skipped)
}

func descriptiveFields(c *codec, d *metadata.Descriptive) {
	c.fixed(d.ObjectID[:])
	c.text(&d.JSON)
}

func schemaRowFields(c *codec, s *metadata.Schema) {
	recordFields(c, &s.Record)
	c.fixed(s.DataspaceID[:])
	c.text(&s.Name)
	c.text(&s.Title)
	c.text(&s.Description)
	c.uint8((*uint8)(&s.For))
	c.text(&s.Types)
	c.truth(&s.Enforce)
	c.uint32(&s.Version)
	c.uint64(&s.Entry)
}

func schemaVersionFields(c *codec, v *metadata.SchemaVersion) {
	c.fixed(v.SchemaID[:])
	c.uint32(&v.Number)
	c.text(&v.Text)
	c.stamp(&v.Created)
	c.fixed(v.CreatedBy[:])
}

func editFields(c *codec, e *metadata.BulkEdit) {
	c.fixed(e.ID[:])
	c.fixed(e.SetID[:])
	c.fixed(e.By[:])
	c.uint8((*uint8)(&e.Kind))
	c.fixed(e.Undoes[:])
	c.fixed(e.UndoneBy[:])
	c.int64(&e.Objects)
	c.stamp(&e.Created)
	c.uint64(&e.Entry)
}

func folderFields(c *codec, f *metadata.Folder) {
	c.fixed(f.SetID[:])
	c.text(&f.Path)
	c.text(&f.Properties)
	c.stamp(&f.Created)
	c.fixed(f.CreatedBy[:])
}

func filePropertiesFields(c *codec, p *metadata.FileProperties) {
	c.fixed(p.ResourceID[:])
	c.text(&p.Properties)
	added(c, &p.Attributes, fileAttributesFields)
}

func fileAttributesFields(c *codec, a *metadata.FileAttributes) {
	c.truth(&a.Timed)
	c.int64(&a.Modified)
	c.uint32(&a.Version)
	c.fixed(a.Digest[:])
	c.fixed(a.SHA1[:])
	c.fixed(a.MD5[:])
}

// editEntryFields is empty, since the key of a bulk edit's entry contains everything.
func editEntryFields(*codec, *metadata.EditEntry) {}

func epochFields(c *codec, e *metadata.Epoch) {
	c.fixed(e.ID[:])
	c.stamp(&e.Base)
	c.stamp(&e.Began)
}

// auditFields omits the number, which is the key. The hashes come last; the number determines how
// many there are.
func auditFields(c *codec, e *metadata.AuditEntry) {
	c.bytes(&e.Leaf)
	sealedFields(c, &e.Texts)
	sealedFields(c, &e.Address)
	completed := audit.Completed(e.Number)
	if c.decode {
		e.Completed = make([]audit.Hash, completed)
	}
	c.bad = c.bad || len(e.Completed) != completed
	for i := range e.Completed {
		c.fixed(e.Completed[i][:])
	}
}

func auditStateFields(c *codec, s *audit.State) {
	c.uint64(&s.Size)
	if c.decode {
		s.Frontier = make([]audit.Hash, bits.OnesCount64(s.Size))
	}
	c.bad = c.bad || !s.Valid()
	for i := range s.Frontier {
		c.fixed(s.Frontier[i][:])
	}
}

func sealedFields(c *codec, s *audit.Sealed) {
	c.text(&s.Text)
	if s.Text != "" {
		c.fixed(s.Salt[:])
	}
}

// bodyFields is the whole record, without a length.
func bodyFields(c *codec, body *[]byte) { c.rest(body) }

func bodyCountFields(c *codec, n *metadata.BodyCount) {
	c.int64(&n.Bodies)
	c.int64(&n.Bytes)
}

func schemaFields(c *codec, version *uint32) { c.uint32(version) }

func lastStampFields(c *codec, last *metadata.Stamp) { c.stamp(last) }

func secretFields(c *codec, secret *[32]byte) { c.fixed(secret[:]) }
