package metadatatest

import (
	"fmt"
	"reflect"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
)

// usageRow, bodyRow, scrubRow and fillRow are the rows of tables without a row type.
type (
	usageRow struct {
		Dataspace metadata.ID
		Day       metadata.Day
		Counters  metadata.Counters
	}
	bodyRow struct {
		metadata.VersionKey
		Body string
	}
	scrubRow struct {
		State metadata.ScrubState
	}
	fillRow struct {
		State metadata.FillState
	}
)

// put puts a row into its table.
func put(tx *metadata.Tx, row any) error {
	switch row := row.(type) {
	case metadata.Dataspace:
		return tx.Dataspaces.Put(row)
	case metadata.Set:
		return tx.Sets.Put(row)
	case metadata.Resource:
		return tx.Resources.Put(row)
	case metadata.Version:
		return tx.Versions.Put(row)
	case metadata.User:
		return tx.Users.Put(row)
	case metadata.Key:
		return tx.Keys.Put(row)
	case metadata.Session:
		return tx.Sessions.Put(row)
	case metadata.ResumableUpload:
		return tx.Uploads.Put(row)
	case metadata.Privilege:
		return tx.Privileges.Put(row)
	case metadata.Cascade:
		return tx.Cascades.Put(row)
	case usageRow:
		return tx.Usage.Put(row.Dataspace, row.Day, row.Counters)
	case blobs.Blob:
		return tx.Blobs.Put(row)
	case metadata.TrashedObject:
		return tx.Trashed.Put(row)
	case metadata.Damage:
		return tx.Damages.Put(row)
	case metadata.Unreferenced:
		return tx.Unreferenced.Put(row)
	case bodyRow:
		return tx.InlineBodies.Put(row.VersionKey, []byte(row.Body))
	case scrubRow:
		return tx.Scrub.Put(row.State)
	case fillRow:
		return tx.Filling.Put(row.State)
	case metadata.Webhook:
		return tx.Webhooks.Put(row)
	case metadata.Delivery:
		return tx.Deliveries.Put(row)
	case metadata.Descriptive:
		return tx.Descriptive.Put(row)
	}
	return putEdited(tx, row)
}

func putAll(tx *metadata.Tx, rows []any) error {
	for _, row := range rows {
		if err := put(tx, row); err != nil {
			return fmt.Errorf("put %T: %w", row, err)
		}
	}
	return nil
}

// way is one way to find a single row.
type way struct {
	name string
	find func(*metadata.Tx) (any, error)
}

// waysTo returns every way to find the row.
func waysTo(row any) []way {
	switch row := row.(type) {
	case metadata.Dataspace:
		return []way{
			{"Dataspaces.Get", func(tx *metadata.Tx) (any, error) { return tx.Dataspaces.Get(row.ID) }},
			{"Dataspaces.ByName", func(tx *metadata.Tx) (any, error) {
				return named(row.Name, tx.Dataspaces.ByName, tx.Dataspaces.Get)
			}},
		}
	case metadata.Set:
		return []way{
			{"Sets.Get", func(tx *metadata.Tx) (any, error) { return tx.Sets.Get(row.ID) }},
			{"Sets.ByName", func(tx *metadata.Tx) (any, error) { return named(row.Name, tx.Sets.ByName, tx.Sets.Get) }},
		}
	case metadata.Resource:
		return []way{{"Resources.Get", func(tx *metadata.Tx) (any, error) { return tx.Resources.Get(row.ID) }}}
	case metadata.Version:
		return []way{{"Versions.Get", func(tx *metadata.Tx) (any, error) { return tx.Versions.Get(row.Key()) }}}
	case metadata.User:
		return []way{
			{"Users.Get", func(tx *metadata.Tx) (any, error) { return tx.Users.Get(row.ID) }},
			{"Users.ByName", func(tx *metadata.Tx) (any, error) {
				return named(row.Username, tx.Users.ByName, tx.Users.Get)
			}},
		}
	case metadata.Key:
		return []way{
			{"Keys.Get", func(tx *metadata.Tx) (any, error) { return tx.Keys.Get(row.UserID, row.ID) }},
			{"Keys.ByDigest", func(tx *metadata.Tx) (any, error) { return tx.Keys.ByDigest(row.Digest) }},
		}
	case metadata.Session:
		return []way{{"Sessions.Get", func(tx *metadata.Tx) (any, error) {
			return tx.Sessions.Get(metadata.SessionKey{User: row.UserID, Digest: row.Digest})
		}}}
	case metadata.ResumableUpload:
		return []way{{"Uploads.Get", func(tx *metadata.Tx) (any, error) { return tx.Uploads.Get(row.ID) }}}
	case metadata.Privilege:
		return []way{
			{"Privileges.Get", func(tx *metadata.Tx) (any, error) { return tx.Privileges.Get(row.ID) }},
			{"Privileges.Of", func(tx *metadata.Tx) (any, error) {
				return tx.Privileges.Of(row.UserID, row.DataspaceID)
			}},
		}
	case metadata.Cascade:
		return []way{{"Cascades.Get", func(tx *metadata.Tx) (any, error) { return tx.Cascades.Get(row.Container) }}}
	case bodyRow:
		return []way{{"InlineBodies.Get", func(tx *metadata.Tx) (any, error) {
			body, err := tx.InlineBodies.Get(row.VersionKey)
			return bodyRow{row.VersionKey, string(body)}, err
		}}}
	case metadata.Damage:
		return []way{{"Damages.Get", func(tx *metadata.Tx) (any, error) { return tx.Damages.Get(row.Digest) }}}
	case metadata.Unreferenced:
		return []way{{"Unreferenced.Get", func(tx *metadata.Tx) (any, error) { return tx.Unreferenced.Get(row.Digest) }}}
	}
	return waysToObjects(row)
}

func named[T any](name string, byName func(string) (metadata.ID, error), get func(metadata.ID) (T, error)) (row T, err error) {
	id, err := byName(name)
	if err != nil {
		return row, err
	}
	return get(id)
}

// id returns an id of the tests. A greater n gives a greater id.
func id(n byte) metadata.ID { return metadata.ID{0: 1, 15: n} }

// filler fills the fields of a row with distinct values, so that a lost or swapped field is
// detected.
type filler struct {
	next  int
	first bool // selects one of two values of a state, visibility, role or bool
}

// filled returns a row without a zero field. With other set, every field has another value.
func filled[T any](other bool) (row T) {
	f := &filler{next: 1, first: other}
	if other {
		f.next = 100
	}
	f.fill(reflect.ValueOf(&row).Elem())
	switch row := any(&row).(type) { // not stored; computed when a record is read
	case *metadata.Dataspace:
		row.Descriptive = ""
	case *metadata.Set:
		row.Descriptive = ""
	case *metadata.Resource:
		row.Damaged, row.Descriptive = false, ""
	case *metadata.Version:
		row.Damaged = false
	}
	return row
}

func (f *filler) fill(v reflect.Value) {
	f.next++
	switch v.Interface().(type) {
	case metadata.BodyLocation:
		v.SetUint(uint64(either(f.first, metadata.InBlob, metadata.Inline)))
		return
	case metadata.State:
		v.SetUint(uint64(either(f.first, metadata.Active, metadata.Deleted)))
		return
	case metadata.Visibility:
		v.SetUint(uint64(either(f.first, metadata.Private, metadata.Open)))
		return
	case auth.Role:
		v.SetUint(uint64(either(f.first, auth.Member, auth.Admin)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).SetUint(uint64(f.next))
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text-%d", f.next))
	case reflect.Bool:
		v.SetBool(!f.first)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.next))
	default:
		v.SetInt(int64(f.next))
	}
}

func either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// fieldsOf calls visit with the path of every leaf field of a row.
func fieldsOf(t reflect.Type, path []int, visit func(path []int, name string)) {
	for i := range t.NumField() {
		field := t.Field(i)
		here := append(path[:len(path):len(path)], i)
		if field.Type.Kind() == reflect.Struct {
			fieldsOf(field.Type, here, visit)
			continue
		}
		visit(here, field.Name)
	}
}
