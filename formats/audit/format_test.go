package audit_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"labshelf/formats/audit"
)

// drawEntry draws an entry with random fields set.
func drawEntry(t *rapid.T) (e audit.Entry) {
	fill := func(name string, into []byte) {
		if rapid.Bool().Draw(t, name+" says something") {
			copy(into, rapid.SliceOfN(rapid.Byte(), len(into), len(into)).Draw(t, name))
		}
	}
	e.Action = audit.Action(rapid.Byte().Draw(t, "action"))
	e.Stamp = rapid.Int64().Draw(t, "stamp")
	e.Object.Kind = audit.Kind(rapid.Byte().Draw(t, "kind"))
	for name, id := range map[string][]byte{
		"user": e.User[:], "key": e.Key[:], "session": e.Session[:], "request": e.Request[:], "object": e.Object.ID[:], "dataspace": e.Dataspace[:],
		"set": e.Set[:], "subject": e.Subject[:], "digest": e.Digest[:], "before": e.Before[:], "texts": e.Texts[:], "address": e.Address[:],
	} {
		fill(name, id)
	}
	for name, number := range map[string]*uint64{"cause": &e.Cause, "previous": &e.Previous, "bytes": &e.Bytes, "version": &e.Version} {
		*number = rapid.Uint64().Draw(t, name)
	}
	e.Values = rapid.OneOf(rapid.Just(""), rapid.String()).Draw(t, "values")
	return e
}

// TestParseLeaf tests that Parse is the inverse of Leaf.
func TestParseLeaf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawEntry(t)
		leaf, err := want.Leaf()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := audit.Parse(leaf); got != want || err != nil {
			t.Fatalf("%x: %v\n%+v, want\n%+v", leaf, err, got, want)
		}
		cut := rapid.IntRange(0, len(leaf)-1).Draw(t, "cut")
		if e, err := audit.Parse(leaf[:cut]); err == nil {
			again, _ := e.Leaf()
			if !bytes.Equal(again, leaf[:cut]) {
				t.Fatalf("%x is read as %x", leaf[:cut], again)
			}
		}
	})
}

// TestLeafAllocations tests that Leaf allocates only the leaf, and Parse of a leaf without values
// allocates nothing. Each change calls Leaf, and each follower of the log calls Parse.
func TestLeafAllocations(t *testing.T) {
	e := audit.Entry{Action: audit.ResourceCreate, Stamp: 1, Bytes: 4096, Version: 1}
	for _, id := range [][]byte{e.User[:], e.Object.ID[:], e.Digest[:]} {
		id[0] = 1
	}
	var leaf []byte
	var err error
	if got := testing.AllocsPerRun(100, func() { leaf, err = e.Leaf() }); got != 1 || err != nil {
		t.Errorf("Leaf makes %v allocations, %v; want 1", got, err)
	}
	if got := testing.AllocsPerRun(100, func() { _, err = audit.Parse(leaf) }); got != 0 || err != nil {
		t.Errorf("Parse makes %v allocations, %v; want 0", got, err)
	}
}

// FuzzParse tests that each entry has one leaf. A parsed leaf is encoded to the same bytes.
func FuzzParse(f *testing.F) {
	for _, text := range []string{frozenLeaf, "", "01", "0102000000000000000105", "01020000000000000001120001", "010200000000000000010501ff0501ff"} {
		leaf, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(leaf)
	}
	f.Fuzz(func(t *testing.T, leaf []byte) {
		e, err := audit.Parse(leaf)
		if err != nil {
			if !errors.Is(err, audit.ErrLeaf) {
				t.Fatalf("%v", err)
			}
			return
		}
		if again, err := e.Leaf(); err != nil || !bytes.Equal(again, leaf) {
			t.Fatalf("%x is read as %x: %v", leaf, again, err)
		}
	})
}

// frozenLeaf is the leaf of the example in docs/reference/audit-format.md.
const frozenLeaf = `
01 1f 00064b0f8d5c1a2b
01 10 0102030405060708090a0b0c0d0e0f10
06 01 03
07 10 1112131415161718191a1b1c1d1e1f20
0b 01 04
0c 20 2122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f40
0e 02 0100
0f 01 02
12 0007 7b2261223a317d`

// TestLeafIsFrozen tests that the bytes of a leaf never change, because leaves are hashed.
func TestLeafIsFrozen(t *testing.T) {
	t.Parallel()
	e := audit.Entry{
		Action: audit.ResourceReplace, Stamp: 0x00064b0f8d5c1a2b, Object: audit.Object{Kind: audit.Resource}, Previous: 4, Bytes: 256, Version: 2,
		Values: `{"a":1}`,
	}
	for i := range 16 {
		e.User[i], e.Object.ID[i] = byte(1+i), byte(17+i)
	}
	for i := range 32 {
		e.Digest[i] = byte(33 + i)
	}
	want := strings.Join(strings.Fields(frozenLeaf), "")
	if leaf, err := e.Leaf(); err != nil || hex.EncodeToString(leaf) != want {
		t.Errorf("%x, %v, want\n%s", leaf, err, want)
	}
	if _, err := (audit.Entry{Values: strings.Repeat(" ", 1<<16)}).Leaf(); err == nil {
		t.Error("values that are too long were accepted")
	}
}

// TestActionNames tests that each action has a unique word, and ParseAction finds the action.
func TestActionNames(t *testing.T) {
	t.Parallel()
	known := 0
	for a := range audit.Action(255) {
		if a.String() == "" {
			continue
		}
		known++
		if again, ok := audit.ParseAction(a.String()); again != a || !ok {
			t.Errorf("%d is %s, which is %d", a, a, again)
		}
	}
	if _, ok := audit.ParseAction(""); ok || known < 30 {
		t.Errorf("%d actions, and the empty word is one: %v", known, ok)
	}
}

// TestSealed tests that a digest depends on the salt and the value. Without a value, the digest is
// zero.
func TestSealed(t *testing.T) {
	t.Parallel()
	one, two := audit.Seal("mary"), audit.Seal("mary")
	if one.Text != "mary" || one.Salt == two.Salt || one.Digest() == two.Digest() || one.Digest() != (audit.Sealed{Salt: one.Salt, Text: "mary"}).Digest() {
		t.Errorf("%+v and %+v", one, two)
	}
	if none := audit.Seal(""); none != (audit.Sealed{}) || none.Digest() != [32]byte{} {
		t.Errorf("an empty value is sealed as %+v", none)
	}
}

// TestChanges tests that unchanged fields are omitted, and fields that were empty have no old
// value.
func TestChanges(t *testing.T) {
	t.Parallel()
	var c audit.Changes
	if c.Change("same", "a", "a"); c.String() != "" {
		t.Errorf("no changes are encoded as %s", c.String())
	}
	c.Change("new", "", "a\"b")
	c.Change("gone", "a", "")
	c.Change("bad", "", "\xff")
	if got, want := c.String(), `{"new":"a\"b","gone":{"before":"a","now":""},"bad":"`+"\uFFFD"+`"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
