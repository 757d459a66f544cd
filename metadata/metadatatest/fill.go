package metadatatest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// leaf is a stored field of a row, or of a struct in it.
type leaf struct {
	path []int
	name string
	kind reflect.Type
}

func (f leaf) in(row reflect.Value) reflect.Value { return row.FieldByIndex(f.path) }

// leavesOf returns the stored fields of a row type. Fields that are computed when a record is read
// are not stored.
func leavesOf(row reflect.Type) (all []leaf) {
	for i := range row.NumField() {
		field := row.Field(i)
		switch {
		case field.Name == "Damaged", field.Name == "Descriptive" && row != reflect.TypeFor[metadata.ResumableUpload]():
		case field.Type.Kind() == reflect.Struct:
			for _, f := range leavesOf(field.Type) {
				f.path = append([]int{i}, f.path...)
				all = append(all, f)
			}
		default:
			all = append(all, leaf{[]int{i}, field.Name, field.Type})
		}
	}
	return all
}

// with returns a row with one field of another row.
func with[R any](row R, f leaf, other R) R {
	f.in(reflect.ValueOf(&row).Elem()).Set(f.in(reflect.ValueOf(&other).Elem()))
	return row
}

// withIdentity returns the first row with the identity of the second one.
func withIdentity(row, of any) any {
	made := changeable(row)
	for _, f := range nounOf(row).identity {
		f.in(made).Set(f.in(reflect.ValueOf(of)))
	}
	return made.Interface()
}

// changeable returns a copy of a row whose fields can be set.
func changeable(row any) reflect.Value {
	made := reflect.New(reflect.TypeOf(row)).Elem()
	made.Set(reflect.ValueOf(row))
	return made
}

// choices are the values of the types with few of them.
func choices() map[reflect.Type][]any {
	return map[reflect.Type][]any{
		reflect.TypeFor[bool]():                  {false, true},
		reflect.TypeFor[metadata.State]():        {metadata.Active, metadata.Deleted},
		reflect.TypeFor[metadata.Visibility]():   {metadata.Private, metadata.Public, metadata.Open},
		reflect.TypeFor[metadata.BodyLocation](): {metadata.InBlob, metadata.Purged, metadata.Inline},
		reflect.TypeFor[auth.Role]():             {auth.Member, auth.Editor, auth.Admin},
	}
}

// fillRow sets all stored fields of a row. value returns the value of a field, or nil for the zero
// value. The value is converted to the type of the field. For a type that has few values, chosen
// selects one of them instead.
func fillRow(row reflect.Value, value func(leaf) any, chosen func([]any) any) {
	few := choices()
	for _, f := range leavesOf(row.Type()) {
		v := value(f)
		if values := few[f.kind]; values != nil {
			v = chosen(values)
		}
		if v != nil {
			f.in(row).Set(reflect.ValueOf(v).Convert(f.kind))
		}
	}
}

// filled returns a row without a zero field and with distinct values, so that a lost or swapped
// field is detected. If other is true, every field has a different value.
func filled[R any](other bool) (row R) {
	filledFrom(reflect.ValueOf(&row).Elem(), other, 1)
	return row
}

// filledRows returns one row of every table. If other is true, every field has a different value.
func filledRows(other bool) []any {
	return mapped(nouns, func(n noun) any { return n.filled(other, 1) })
}

// filled returns a filled row. A greater number next results in greater values.
func (n noun) filled(other bool, next byte) any {
	row := reflect.New(n.row).Elem()
	filledFrom(row, other, next)
	return row.Interface()
}

func filledFrom(row reflect.Value, other bool, next byte) {
	choose := func(values []any) any { return values[len(values)-1] }
	if other {
		next += 99
		choose = func(values []any) any { return values[0] }
	}
	fillRow(row, func(f leaf) any {
		next++
		switch f.kind.Kind() {
		case reflect.Array:
			return array(f.kind, next)
		case reflect.String:
			return fmt.Sprintf("text-%03d", next)
		}
		return next
	}, choose)
}

// array returns an array of equal bytes.
func array(kind reflect.Type, of byte) any {
	return reflect.ValueOf(bytes.Repeat([]byte{of}, kind.Len())).Convert(kind).Interface()
}

// leastRow returns the smallest row that a table can have.
func (n noun) leastRow() any {
	row := reflect.New(n.row).Elem()
	fillRow(row, func(f leaf) any {
		switch inKey := slices.ContainsFunc(n.identity, func(o leaf) bool { return o.name == f.name }); {
		case f.kind == reflect.TypeFor[metadata.ID]() && (inKey || slices.Contains([]string{"SetID", "DataspaceID", "UserID"}, f.name)):
			return id(5)
		case f.name == "Modified" && f.kind == reflect.TypeFor[metadata.Stamp]():
			return 1
		case f.name == "Name" || f.name == "Username" || inKey && f.name == "Object":
			return "l"
		}
		return nil
	}, func(values []any) any { return values[0] })
	return row.Interface()
}

// mostRow returns the largest row that a table can have.
func (n noun) mostRow() any {
	row := reflect.New(n.row).Elem()
	long := strings.Repeat("ä\u2028<&>\"\\", 64<<10/10) + "\r\n\tz"
	name := strings.Repeat("n\x01\xff/", 1024)
	fillRow(row, func(f leaf) any {
		switch kind := f.kind.Kind(); {
		case kind == reflect.Array:
			return array(f.kind, 0xff)
		case kind == reflect.String && f.name == "Body":
			return strings.Repeat(name, 256)
		case kind == reflect.String && slices.Contains([]string{"Name", "Filename", "Username", "Object", "Path"}, f.name):
			return name
		case kind == reflect.String:
			return long
		case f.name == "Last" || f.name == "Status":
			return int64(math.MinInt64)
		case kind == reflect.Int32:
			return math.MaxInt32
		case kind == reflect.Int64:
			return math.MaxInt64
		}
		return ^uint64(0)
	}, func(values []any) any { return values[len(values)-1] })
	return row.Interface()
}

// EveryTable puts a row into every table, with an entry in every index, and two entries into the
// audit log. Rows that tests refer to have fixed content.
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

// LogEntry appends an entry with values to the audit log.
func LogEntry(tx *metadata.Tx) error {
	_, err := tx.Log(audit.Entry{Action: audit.UserCreate, Stamp: int64(tx.Stamp())}, `{"username":"Anna"}`, "::1")
	return err
}

// IDAt returns the n-th id of a kind.
func IDAt(kind byte, n int) metadata.ID {
	return metadata.ID{0: kind, 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)}
}
