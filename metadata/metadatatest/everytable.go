package metadatatest

import (
	"errors"
	"reflect"
	"slices"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// EveryTable puts a row into every table, with an entry in every index, and two entries into the
// audit log. Rows that tests name have known content.
func EveryTable(tx *metadata.Tx) error {
	record := func(kind byte) metadata.Record {
		stamp := tx.Stamp()
		return metadata.Record{ID: IDAt(kind, 1), State: metadata.Active, Created: stamp, Modified: stamp}
	}
	user, space, set := IDAt('U', 1), IDAt('D', 1), IDAt('S', 1)
	rows := []any{
		metadata.User{Record: record('U'), Username: "Anna"},
		metadata.Dataspace{Record: record('D'), Name: "alps", Visibility: metadata.Public},
		metadata.Set{Record: record('S'), DataspaceID: space, Name: "peaks"},
		metadata.Resource{Record: record('R'), SetID: set, DataspaceID: space, Name: "map", Version: 1},
		metadata.Version{ResourceID: IDAt('R', 1), Replaced: tx.Stamp()},
		metadata.Session{UserID: user, KeyID: IDAt('K', 1), Digest: auth.SessionDigest{1}, Created: tx.Stamp()},
		metadata.ResumableUpload{ID: IDAt('T', 1), SenderID: user, Created: tx.Stamp(), Expires: 9, Digest: blobs.Digest{1}},
		metadata.Key{ID: IDAt('K', 1), UserID: user, Digest: auth.KeyDigest{1}, Created: tx.Stamp()},
		metadata.Privilege{Record: record('P'), UserID: user, DataspaceID: space, Role: auth.Admin},
		metadata.Cascade{Container: set, DataspaceID: space},
		usageRow{usageKey{space, 1}, metadata.Counters{ActiveFiles: 1}},
		metadata.UserUsage{UserID: user, Bytes: 9},
		blobs.Blob{Size: 9, Object: "o"},
		metadata.Damage{Digest: blobs.Digest{}, What: "it is too short"},
		bodyRow{metadata.VersionKey{Resource: IDAt('R', 1)}, "body"},
		metadata.TrashedObject{Blob: blobs.Blob{Digest: blobs.Digest{1}, Object: "t"}, Since: tx.Stamp()},
		metadata.Webhook{Record: record('W'), URL: "https://hooks.example.org"},
		metadata.Schema{Record: record('C'), DataspaceID: space, Name: "runs", Version: 1},
		metadata.SchemaVersion{SchemaID: IDAt('C', 1), Number: 1, Text: "{}", Created: tx.Stamp()},
		metadata.BulkEdit{ID: IDAt('E', 1), SetID: set, Created: tx.Stamp()},
		metadata.Link{Record: record('L'), Kind: metadata.ShareLink, DataspaceID: space, OwnerID: user},
		metadata.Lease{Name: "background", Holder: IDAt('N', 1), Fence: tx.Stamp(), Ends: 9},
	}
	for _, n := range nouns {
		if !slices.ContainsFunc(rows, func(row any) bool { return reflect.TypeOf(row) == n.row }) {
			rows = append(rows, n.filled(false, 1))
		}
	}
	return errors.Join(putAll(tx, rows), LogEntry(tx), LogEntry(tx)) // after the entry that begins the epoch
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
