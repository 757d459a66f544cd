package tables

import (
	"testing"

	"labshelf/metadata"
)

// BenchmarkEncode encodes the keys and the record of a resource, and decodes the record.
func BenchmarkEncode(b *testing.B) {
	id := metadata.NewID(metadata.Stamp(1_700_000_000_000_000))
	r := metadata.Resource{
		Record: metadata.Record{ID: id, State: metadata.Active, Modified: 1_700_000_000_000_000, CreatedBy: id, ModifiedBy: id},
		SetID:  id, DataspaceID: id, Name: "run-0001.csv", Filename: "run-0001.csv", Format: "CSV", MimeType: "text/csv; charset=utf-8",
	}
	record := seal(idKey(id), resourceFields, r)
	b.Run("keys", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			resourceTable.entries(r)
		}
	})
	b.Run("record", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			seal(idKey(id), resourceFields, r)
		}
	})
	b.Run("record back", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if got, err := unseal(idKey(id), record, resourceFields); err != nil || got.ID != id {
				b.Fatal(got, err)
			}
		}
	})
}
