package paging_test

import (
	"testing"

	"labshelf/paging"
)

func BenchmarkEncode(b *testing.B) {
	codec, query := paging.NewCodec(secret), goldens()[6].query
	b.ReportAllocs()
	for b.Loop() {
		if _, err := codec.Encode(query); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	codec, g := paging.NewCodec(secret), goldens()[6]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := codec.Decode(g.query.Listing, g.query.Parent, g.token); err != nil {
			b.Fatal(err)
		}
	}
}
