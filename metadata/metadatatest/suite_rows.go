package metadatatest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
)

func rowTests() map[string]func(*testing.T, *store) {
	return map[string]func(*testing.T, *store){
		"rows come back as they were put":                testRows,
		"rows of any size come back":                     testSizes,
		"indexes follow every change of a row":           testChanges,
		"rows and ranges are copies":                     testCopies,
		"versions come the newest first":                 testVersions,
		"references outlast replacements":                testReferences,
		"deliveries come the newest first":               testDeliveries,
		"webhooks come in the order of their ids":        testWebhooks,
		"descriptive metadata come in the order of ids":  testDescriptive,
		"schemas come by dataspace and state":            testSchemas,
		"edits come the newest first":                    testEdits,
		"folders come in the order of paths":             testFolders,
		"children are files, and folders once":           testChildren,
		"links are found as they are now":                testLinks,
		"leases are found by their names":                testLeases,
		"objects are named":                              testObjects,
		"bodies are copies":                              testBodyCopies,
		"sequences are read side by side and left early": testSequences,
	}
}

// filledRows returns one row of every table. With other set, every field differs.
func filledRows(other bool) []any {
	return []any{
		filled[metadata.Dataspace](other), filled[metadata.Set](other), filled[metadata.Resource](other), filled[metadata.Version](other),
		filled[metadata.User](other), filled[metadata.Key](other), filled[metadata.Privilege](other),
		filled[metadata.Cascade](other), filled[usageRow](other), filled[blobs.Blob](other), filled[metadata.TrashedObject](other), filled[metadata.Damage](other), filled[scrubRow](other), filled[fillRow](other),
		filled[metadata.Unreferenced](other),
		filled[bodyRow](other), filled[metadata.Session](other), filled[metadata.ResumableUpload](other),
		filled[metadata.Webhook](other), filled[metadata.Delivery](other), filled[metadata.Descriptive](other),
		filled[metadata.Schema](other), filled[metadata.SchemaVersion](other), filled[metadata.BulkEdit](other), filled[metadata.EditEntry](other),
		filled[metadata.Folder](other), filled[metadata.FileProperties](other),
		filled[metadata.Link](other), filled[metadata.LinkUse](other), filled[metadata.UserUsage](other),
		filled[metadata.Lease](other), filled[metadata.Node](other),
	}
}

func testRows(t *testing.T, s *store) {
	rows := filledRows(false)
	asked := probeOf(rows...)
	same(t, "an empty store", view(t, s, read(asked)), map[string]any{})
	inUpdate := map[string]any{}
	s.update(t, func(tx *metadata.Tx) error {
		if err := notFound(tx, rows); err != nil {
			return err
		}
		if err := putAll(tx, rows); err != nil {
			return err
		}
		if err := found(tx, rows); err != nil {
			return err
		}
		var err error
		inUpdate, err = contents(tx, asked)
		return err
	})
	for name, in := range map[string]metadata.Reader{"View": s, "ViewDurable": durable{s}} {
		err := in.View(t.Context(), func(tx *metadata.Tx) error { return found(tx, rows) })
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		same(t, name+" after the commit", view(t, in, read(asked)), inUpdate)
	}
	s.reopen(t)
	same(t, "after closing and opening again", view(t, s, read(asked)), inUpdate)

	others := filledRows(true)
	if err := s.View(t.Context(), func(tx *metadata.Tx) error { return notFound(tx, others) }); err != nil {
		t.Error(err)
	}
}

// durable is the store with ViewDurable as View.
type durable struct{ *store }

func (d durable) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	return d.ViewDurable(ctx, fn)
}

// found returns an error unless every way to each row leads to the row.
func found(tx *metadata.Tx, rows []any) (err error) {
	for _, row := range rows {
		for _, way := range waysTo(row) {
			got, failed := way.find(tx)
			if failed != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", way.name, failed))
			} else if got != row {
				err = errors.Join(err, fmt.Errorf("%s:\ngot  %+v\nwant %+v", way.name, got, row))
			}
		}
	}
	return err
}

// notFound returns an error unless every way to each row leads to ErrNotFound.
func notFound(tx *metadata.Tx, rows []any) (err error) {
	for _, row := range rows {
		for _, way := range waysTo(row) {
			if got, failed := way.find(tx); !errors.Is(failed, metadata.ErrNotFound) {
				err = errors.Join(err, fmt.Errorf("%s of what is not there: %+v, %v", way.name, got, failed))
			}
		}
	}
	return err
}

func testSizes(t *testing.T, s *store) {
	const latest = 1000<<48 - 1 // the last stamp that fits into an id
	long := strings.Repeat("ä\u2028<&>\"\\", 1638) + "\r\n\tz"
	name := strings.Repeat("n\x01\xff/", 1024)
	least := metadata.Record{State: metadata.Active, Modified: 1}
	most := metadata.Record{State: metadata.Deleted, TakenBy: latest, Created: latest, Modified: latest, CreatedBy: maxID(), ModifiedBy: maxID()}
	with := func(r metadata.Record, n byte) metadata.Record {
		r.ID = id(n)
		return r
	}
	rows := []any{
		metadata.Dataspace{Record: with(least, 1), Name: "d", Visibility: metadata.Private},
		metadata.Dataspace{Record: with(most, 2), Name: long[:500], Title: long, Description: long, Origin: long, Visibility: metadata.Public, Quota: math.MaxInt64},
		metadata.Set{Record: with(least, 3), Name: "s", DataspaceID: id(1)},
		metadata.Set{Record: with(most, 4), Name: long[:500], Title: long, Description: long, DataspaceID: maxID()},
		metadata.Resource{Record: with(least, 5), Name: "r", SetID: id(3), DataspaceID: id(1)},
		metadata.Resource{
			Record: with(most, 6), Name: name, Description: long, Format: long[:400], MimeType: long, Filename: name, Body: metadata.Purged,
			SetID: id(4), DataspaceID: maxID(), Digest: blobs.Digest(slices.Repeat([]byte{0xff}, 32)), Bytes: math.MaxInt64, Version: math.MaxUint32,
		},
		metadata.Version{ResourceID: id(5)},
		metadata.Version{
			ResourceID: maxID(), Number: math.MaxUint32, Name: name, Description: long, Format: long[:400], MimeType: long, Filename: name,
			Digest: blobs.Digest(slices.Repeat([]byte{0xff}, 32)), Bytes: math.MaxInt64, Body: metadata.Purged, Created: latest, Replaced: latest,
			CreatedBy: maxID(), ReplacedBy: maxID(), Label: long[:400], Removed: metadata.Removal{At: latest, Rule: math.MaxUint8, By: maxID()},
		},
		metadata.User{Record: with(least, 7), Username: "u"},
		metadata.User{Record: with(most, 8), Username: strings.Repeat("u@", 50), Fullname: long, About: long, Sysadmin: true, Quota: math.MaxInt64},
		metadata.Key{ID: id(9), UserID: id(7)},
		metadata.Key{
			ID: maxID(), UserID: maxID(), Digest: auth.KeyDigest(slices.Repeat([]byte{0xff}, 32)), Label: long[:400], Prefix: long,
			Created: latest, Expires: latest, LastUsed: latest, Gone: latest, MadeWith: maxID(),
		},
		metadata.Privilege{Record: with(least, 10), UserID: id(7), DataspaceID: id(1)},
		metadata.Privilege{Record: with(most, 11), UserID: maxID(), DataspaceID: maxID(), Role: auth.Admin},
		metadata.Cascade{Container: id(1), DataspaceID: id(1)},
		metadata.Cascade{Container: maxID(), Restore: true, Deletion: latest, Begun: latest, AfterSet: maxID(), AfterStamp: latest},
		usageRow{id(1), math.MaxInt32, metadata.Counters{ActiveFiles: math.MaxInt64, DeletedBytes: math.MaxInt64}},
		metadata.ResumableUpload{ID: id(12), SenderID: id(7)},
		metadata.ResumableUpload{
			ID: maxID(), SenderID: maxID(), SetID: maxID(), Created: latest, Expires: math.MaxInt64, Length: math.MaxInt64,
			Checkpoint: blobs.Checkpoint{Size: math.MaxInt64, Hash: name, Parts: long}, Digest: blobs.Digest(slices.Repeat([]byte{0xff}, 32)),
			Name: name, Format: long[:400], Description: long, Filename: name, ContentType: long, Match: long, Announced: strings.Repeat(name, 8),
			Refusal: metadata.Refusal{Kind: math.MaxUint8, Code: "code", Field: name, Message: long},
		},
		bodyRow{metadata.VersionKey{Resource: id(1)}, ""},
		bodyRow{metadata.VersionKey{Resource: maxID(), Version: math.MaxUint32}, strings.Repeat(name, 256)},
	}
	rows = append(rows, sizesOfWebhooks(with(least, 13), with(most, 14), long, name)...)
	rows = append(append(rows, sizesOfDescriptive()...), sizesOfObjects(name, latest)...)
	rows = append(append(rows, sizesOfSchemas(with(least, 18), with(most, 19), long)...), sizesOfFolders(with(least, 20), with(most, 21), long)...)
	s.put(t, rows...)
	if err := s.View(t.Context(), func(tx *metadata.Tx) error { return found(tx, rows) }); err != nil {
		t.Error(err)
	}
	asked := probeOf(rows...)
	same(t, "everything", view(t, s, read(asked)), view(t, onlyHolds(t, rows...), read(asked)))
}

func maxID() metadata.ID { return metadata.ID(slices.Repeat([]byte{0xff}, 16)) }

// onlyHolds returns a store in memory that has never contained other rows.
func onlyHolds(t *testing.T, rows ...any) *Memory {
	m := NewMemory(newClock().now)
	err := m.Update(t.Context(), func(tx *metadata.Tx) error { return putAll(tx, rows) })
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// testChanges puts each row with each of its fields changed, and back. Then all reads must answer
// as if no other version of the row had existed.
func testChanges(t *testing.T, s *store) {
	others := filledRows(true)
	for i, row := range filledRows(false) {
		asked := probeOf(row, others[i])
		identity := identityOf(row)
		s.put(t, row)
		fieldsOf(reflect.TypeOf(row), nil, func(path []int, name string) {
			if slices.Contains(identity, name) {
				return
			}
			changed := reflect.New(reflect.TypeOf(row)).Elem()
			changed.Set(reflect.ValueOf(row))
			changed.FieldByIndex(path).Set(reflect.ValueOf(others[i]).FieldByIndex(path))
			for _, version := range []any{row, changed.Interface(), row} {
				s.put(t, version)
				got := view(t, s, read(asked))
				same(t, fmt.Sprintf("%T after a change of %s", row, name), got, view(t, onlyHolds(t, version), read(asked)))
			}
		})
		s.reopen(t)
		same(t, fmt.Sprintf("%T after closing and opening again", row), view(t, s, read(asked)), view(t, onlyHolds(t, row), read(asked)))
		s.stop(t)
		s.dir = t.TempDir()
		s.start(t)
	}
}

// identityOf returns the names of the fields that identify a row.
func identityOf(row any) []string {
	switch row.(type) {
	case metadata.Key:
		return []string{"ID", "UserID"}
	case metadata.Version:
		return []string{"ResourceID", "Number"}
	case metadata.Delivery:
		return []string{"WebhookID", "Number"}
	case metadata.Descriptive:
		return []string{"ObjectID"}
	case metadata.SchemaVersion:
		return []string{"SchemaID", "Number"}
	case metadata.EditEntry:
		return []string{"EditID", "Number"}
	case metadata.Folder:
		return []string{"SetID", "Path"}
	case metadata.FileProperties:
		return []string{"ResourceID"}
	case metadata.LinkUse:
		return []string{"LinkID"}
	case metadata.UserUsage:
		return []string{"UserID"}
	case metadata.Lease:
		return []string{"Name"}
	case metadata.Node:
		return []string{"Instance"}
	case metadata.Session:
		return []string{"UserID", "Digest"}
	case metadata.Cascade:
		return []string{"Container"}
	case usageRow:
		return []string{"Dataspace", "Day"}
	case metadata.TrashedObject:
		return []string{"Digest", "Object"}
	case blobs.Blob, metadata.Damage, metadata.Unreferenced:
		return []string{"Digest"}
	case scrubRow, fillRow:
		return nil
	case bodyRow:
		return []string{"Resource", "Version"}
	}
	return []string{"ID"}
}

// withIdentity returns the row with the identity of another one.
func withIdentity(row, of any) any {
	version := reflect.New(reflect.TypeOf(row)).Elem()
	version.Set(reflect.ValueOf(row))
	for _, name := range identityOf(row) {
		version.FieldByName(name).Set(reflect.ValueOf(of).FieldByName(name))
	}
	return version.Interface()
}
