package metadatatest

import (
	"iter"

	"pgregory.net/rapid"

	"labshelf/blobs"
	"labshelf/metadata"
)

// transfer draws one that may have come whole, may have made a resource, and may have expired. Its ids are those of resources.
func (m *machine) transfer(rt *rapid.T, _ *session) any {
	t := metadata.Transfer{
		ID: rapid.SampledFrom(m.pool.resources).Draw(rt, "transfer"), UserID: rapid.SampledFrom(m.pool.users).Draw(rt, "transfer of"),
		Created: m.last, Expires: m.last + metadata.Stamp(rapid.IntRange(-2, 2).Draw(rt, "expires")),
		Length: 3, Mark: blobs.Mark{Size: 1, Hash: rapid.SampledFrom(texts()).Draw(rt, "mark")},
	}
	if rapid.Bool().Draw(rt, "whole") {
		t.Digest = rapid.SampledFrom(m.pool.digests).Draw(rt, "digest")
	}
	if rapid.Bool().Draw(rt, "done") {
		t.Made = rapid.SampledFrom(m.pool.resources).Draw(rt, "made")
	}
	return t
}

// transfers reads what has ended, and what waits.
func (m *machine) transfers(rt *rapid.T, few int) op {
	if rapid.Bool().Draw(rt, "ended") {
		by := m.last + metadata.Stamp(rapid.IntRange(-2, 2).Draw(rt, "by"))
		return rowsOp("Transfers.Ended", few, func(tx *metadata.Tx) iter.Seq2[metadata.ID, error] { return tx.Transfers.Ended(by) })
	}
	digest := rapid.SampledFrom(m.pool.digests).Draw(rt, "digest")
	return op{"Transfers.Wait", func(tx *metadata.Tx) (any, error) { return tx.Transfers.Wait(digest) }}
}
