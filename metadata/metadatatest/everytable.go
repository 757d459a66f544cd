package metadatatest

import (
	"errors"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// EveryTable puts a row into every table, with an entry in every index, and two entries into the
// audit log.
func EveryTable(tx *metadata.Tx) error {
	record := func(kind byte) metadata.Record {
		stamp := tx.Stamp()
		return metadata.Record{ID: IDAt(kind, 1), State: metadata.Active, Created: stamp, Modified: stamp}
	}
	user, space, set := IDAt('U', 1), IDAt('D', 1), IDAt('S', 1)
	return errors.Join(
		tx.Users.Put(metadata.User{Record: record('U'), Username: "Anna"}),
		tx.Dataspaces.Put(metadata.Dataspace{Record: record('D'), Name: "alps", Visibility: metadata.Public}),
		tx.Sets.Put(metadata.Set{Record: record('S'), DataspaceID: space, Name: "peaks"}),
		tx.Resources.Put(metadata.Resource{Record: record('R'), SetID: set, DataspaceID: space, Name: "map", Version: 1}),
		tx.Versions.Put(metadata.Version{ResourceID: IDAt('R', 1), Replaced: tx.Stamp()}),
		tx.Sessions.Put(metadata.Session{UserID: user, KeyID: IDAt('K', 1), Digest: auth.SessionDigest{1}, Created: tx.Stamp()}),
		tx.Uploads.Put(metadata.ResumableUpload{ID: IDAt('T', 1), SenderID: user, Created: tx.Stamp(), Expires: 9, Digest: blobs.Digest{1}}),
		tx.Keys.Put(metadata.Key{ID: IDAt('K', 1), UserID: user, Digest: auth.KeyDigest{1}, Created: tx.Stamp()}),
		tx.Privileges.Put(metadata.Privilege{Record: record('P'), UserID: user, DataspaceID: space, Role: auth.Admin}),
		tx.Cascades.Put(metadata.Cascade{Container: set, DataspaceID: space}),
		tx.Usage.Put(space, 1, metadata.Counters{ActiveFiles: 1}),
		tx.UserUsage.Put(metadata.UserUsage{UserID: user, Bytes: 9}),
		tx.Blobs.Put(blobs.Blob{Size: 9, Object: "o"}),
		tx.Trashed.Put(metadata.TrashedObject{Blob: blobs.Blob{Digest: blobs.Digest{1}, Object: "t"}, Since: tx.Stamp()}),
		tx.Damages.Put(metadata.Damage{Digest: blobs.Digest{}, What: "it is too short"}),
		tx.Unreferenced.Put(metadata.Unreferenced{Digest: blobs.Digest{2}, Bytes: 7}),
		tx.Scrub.Put(metadata.ScrubState{Passes: 1}),
		tx.Filling.Put(metadata.FillState{Arrivals: 1}),
		tx.Webhooks.Put(metadata.Webhook{Record: record('W'), URL: "https://hooks.example.org"}),
		tx.Deliveries.Put(metadata.Delivery{WebhookID: IDAt('W', 1), MessageID: "e.1"}),
		tx.Descriptive.Put(metadata.Descriptive{ObjectID: IDAt('R', 1), JSON: "{}"}),
		tx.Schemas.Put(metadata.Schema{Record: record('C'), DataspaceID: space, Name: "runs", Version: 1}),
		tx.SchemaVersions.Put(metadata.SchemaVersion{SchemaID: IDAt('C', 1), Number: 1, Text: "{}", Created: tx.Stamp()}),
		tx.Edits.Put(metadata.BulkEdit{ID: IDAt('E', 1), SetID: set, Created: tx.Stamp()}),
		tx.EditEntries.Put(metadata.EditEntry{EditID: IDAt('E', 1), Number: 1}),
		tx.Folders.Put(metadata.Folder{SetID: set, Path: "a/"}),
		tx.FileProperties.Put(metadata.FileProperties{ResourceID: IDAt('R', 1), Properties: "p"}),
		tx.Links.Put(metadata.Link{Record: record('L'), Kind: metadata.ShareLink, DataspaceID: IDAt('D', 1), OwnerID: IDAt('U', 1)}),
		tx.LinkUses.Put(metadata.LinkUse{LinkID: IDAt('L', 1), Count: 1}),
		tx.Leases.Put(metadata.Lease{Name: "background", Holder: IDAt('N', 1), Fence: tx.Stamp(), Ends: 9}),
		tx.Nodes.Put(metadata.Node{Instance: IDAt('N', 1), Name: "a", Seen: 9}),
		tx.InlineBodies.Put(metadata.VersionKey{Resource: IDAt('R', 1)}, []byte("body")),
		LogEntry(tx), LogEntry(tx), // after the entry that begins the epoch
	)
}

// LogEntry appends an entry with texts to the audit log.
func LogEntry(tx *metadata.Tx) error {
	_, err := tx.Log(audit.Entry{Action: audit.UserCreate, Stamp: int64(tx.Stamp())}, `{"username":"Anna"}`, "::1")
	return err
}

// IDAt returns the n-th id of a kind.
func IDAt(kind byte, n int) metadata.ID {
	return metadata.ID{0: kind, 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)}
}
