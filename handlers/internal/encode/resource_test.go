package encode

import (
	"bytes"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/core"
)

// reference returns the wire form of a resource.
func reference(base, view string, r metadata.Resource) wire.Resource {
	id, set, dataspace := r.ID.String(), r.SetID.String(), r.DataspaceID.String()
	address := base + "/resources/" + id
	place := strings.NewReplacer("{id}", url.PathEscape(id), "{setId}", url.PathEscape(set), "{dataspaceId}", url.PathEscape(dataspace))
	unlessZero := func(id metadata.ID) string {
		if id == (metadata.ID{}) {
			return ""
		}
		return id.String()
	}
	return wire.Resource{
		MovedTo: unlessZero(r.MovedTo), LinkID: unlessZero(r.LinkID), ID: id, URL: address, DataURL: address + "/data", ViewDataURL: place.Replace(view),
		Name: r.Name, Description: r.Description, Format: r.Format, Mimetype: r.MimeType, Size: kilobytes(r.Bytes),
		Created: Time(r.Created), CreatedEpoch: Epoch(r.Created), Modified: Time(r.Modified), ModifiedEpoch: Epoch(r.Modified),
		SetID: set, State: r.State.String(), Bytes: r.Bytes, SHA256: r.Digest, Filename: r.Filename, DataspaceID: dataspace,
		CreatedBy: r.CreatedBy.String(), ModifiedBy: r.ModifiedBy.String(), Version: int64(r.Version) + 1, Purged: r.Body == metadata.Purged, Damaged: r.Damaged,
	}
}

// text generates strings that people and programs use.
func text() *rapid.Generator[string] {
	fragment := rapid.SampledFrom([]string{
		"plain", "<b>&amp;</b>", `"`, `\`, "/", "\x00", "\b\f\n\r\t", "\x1f\x7f", "\u2028", "\u2029", `\u2028`, `\\u2029`, "ä", "日本", "😀", "\ufffd",
		"\x80", "\xc3", "\xe2\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "{id}", "{name}", "",
	})
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "any bytes") {
			return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		}
		return strings.Join(rapid.SliceOfN(fragment, 0, 6).Draw(t, "fragments"), "")
	})
}

func drawResource(t *rapid.T) (r metadata.Resource) {
	stamp := rapid.OneOf(rapid.Int64Range(-1e12, 4e15), rapid.Int64Range(0, 281_474_976_710_655_999)).
		Filter(func(s int64) bool { return metadata.Stamp(s).Millis() != 0 }) // every record has its times
	for _, id := range []*metadata.ID{&r.ID, &r.SetID, &r.DataspaceID, &r.CreatedBy, &r.ModifiedBy} {
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
	}
	copy(r.Digest[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
	for _, s := range []*string{&r.Name, &r.Description, &r.Format, &r.MimeType, &r.Filename} {
		*s = text().Draw(t, "text")
	}
	r.State = rapid.SampledFrom([]metadata.State{metadata.Active, metadata.Deleted}).Draw(t, "state")
	r.Created, r.Modified = metadata.Stamp(stamp.Draw(t, "created")), metadata.Stamp(stamp.Draw(t, "modified"))
	r.Bytes = rapid.Int64Min(0).Draw(t, "bytes")
	r.Body = metadata.BodyLocation(rapid.IntRange(0, 2).Draw(t, "body"))
	r.Damaged = rapid.Bool().Draw(t, "damaged")
	if rapid.Bool().Draw(t, "moved") {
		r.MovedTo = r.SetID
	}
	if rapid.Bool().Draw(t, "dropped") {
		r.LinkID = r.DataspaceID
	}
	return r
}

// TestResourceEncoding compares a page and a single resource byte by byte with the output of
// encoding/json.
func TestResourceEncoding(t *testing.T) {
	t.Parallel()
	var buffers Pages
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom([]string{"http://127.0.0.1:8080/v1", "https://labör.example/a\"b/v1", "https://x/{id}{name}/v1"}).Draw(t, "base")
		view := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"{id}", "{setId}", "{dataspaceId}", "{", "}", "{name}", "{purged}", "{base}", `"`, "https://catalogue/", "ä", "&",
		})).Draw(t, "view"), "")
		path := rapid.SampledFrom([]string{"/resources", "/sets/x/resources"}).Draw(t, "path")
		single, paged := ResourceLayout(base, view, ""), ResourceLayout(base, view, ItemIndent)
		ends := core.PageEnds{Current: rapid.StringMatching("[A-Za-z0-9_-]{0,600}").Draw(t, "current"), Next: strings.Repeat("n", rapid.IntRange(1, 6144).Draw(t, "next"))}
		address := base + path + "/query/results/"
		want := wire.Page[wire.Resource]{NextPage: address + ends.Next, CurrentPage: address + ends.Current}
		page := buffers.Begin(address)
		for range rapid.IntRange(1, 4).Draw(t, "items") {
			r := drawResource(t)
			want.Data = append(want.Data, reference(base, view, r))
			Add(page, paged, &r)
			if got, want := append(single.Append(nil, &r), '\n'), JSON(want.Data[len(want.Data)-1]); !bytes.Equal(got, want) {
				t.Fatalf("a resource is\n%s\nwant\n%s", got, want)
			}
		}
		if got, want := page.Finish(ends), JSON(want); !bytes.Equal(got, want) {
			t.Fatalf("a page is\n%s\nwant\n%s", got, want)
		}
		buffers.Done(page)
	})
}

// TestDescriptive tests that descriptive metadata is the last member, as stored, or missing if
// empty.
func TestDescriptive(t *testing.T) {
	t.Parallel()
	const stored = `{"tags":["ä <&> \u0001"],"properties":{"n":1e400}}`
	for _, indent := range []string{"", ItemIndent} {
		layout, r := ResourceLayout("https://x/v1", "https://x/{id}", indent), metadata.Resource{Damaged: true, Body: metadata.Purged}
		without := string(layout.Append(nil, &r))
		r.Descriptive = stored
		want := strings.TrimSuffix(without, "\n"+indent+"}") + ",\n" + indent + `  "metadata": ` + stored + "\n" + indent + "}"
		if got := string(layout.Append(nil, &r)); got != want || strings.Contains(without, "metadata") {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// FuzzText compares appendText with encoding/json.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c", "\x00\x1f\x7f\u2028\xff<>&", `\u2028`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := `"`+escaped(s)+"\"\n", string(JSON(s)); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	})
}

// sample returns n resources that resemble the resources of a laboratory.
func sample(n int) []metadata.Resource {
	random := rand.New(rand.NewPCG(1, 2))
	all := make([]metadata.Resource, n)
	for i := range all {
		stamp := metadata.Stamp(1_790_000_000_000_001 + int64(i)*1_001)
		r := &all[i]
		r.Record = metadata.Record{ID: metadata.NewID(stamp), State: metadata.Active, Created: stamp, Modified: stamp, CreatedBy: metadata.NewID(1)}
		r.ModifiedBy, r.SetID, r.DataspaceID = r.CreatedBy, metadata.NewID(2), metadata.NewID(3)
		r.Name, r.Filename, r.Format, r.MimeType = "measurements/2026/run-17.csv", "run-17.csv", "CSV", "text/csv; charset=utf-8"
		r.Description, r.Bytes = "Run 17, sample at 293 K, 40 kV", 4096
		for at := range r.Digest {
			r.Digest[at] = byte(random.Uint32())
		}
	}
	return all
}

// BenchmarkPageAssembly builds a page of 100 resources, from records and by copying stored JSON.
func BenchmarkPageAssembly(b *testing.B) {
	const base = "http://127.0.0.1:8080/v1"
	var buffers Pages
	rows, l := sample(100), ResourceLayout(base, "http://127.0.0.1:8080/resources/{id}", ItemIndent)
	stored := make([][]byte, len(rows))
	for i := range rows {
		stored[i] = l.Append(nil, &rows[i])
	}
	verbatim := func(i int) Layout[metadata.Resource] { return Layout[metadata.Resource]{{text: string(stored[i])}} }
	ready := make([]Layout[metadata.Resource], len(rows))
	for i := range rows {
		ready[i] = verbatim(i)
	}
	for name, of := range map[string]func(i int) Layout[metadata.Resource]{"from=records": func(int) Layout[metadata.Resource] { return l }, "from=stored": func(i int) Layout[metadata.Resource] { return ready[i] }} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				page := buffers.Begin(base + "/resources/query/results/")
				for i := range rows {
					Add(page, of(i), &rows[i])
				}
				b.SetBytes(int64(len(page.Finish(core.PageEnds{Current: "c", Next: "n"}))))
				buffers.Done(page)
			}
		})
	}
}

// BenchmarkAppend appends one value of each type.
func BenchmarkAppend(b *testing.B) {
	r := &sample(1)[0]
	whole := ResourceLayout("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/resources/{id}", ItemIndent)
	for name, write := range map[string]func([]byte){
		"resource": func(b []byte) { whole.Append(b[:0], r) },
		"id":       func(b []byte) { putID(b, &r.ID) },
		"digest":   func(b []byte) { putDigest(b, &r.Digest) },
		"text":     func(b []byte) { appendText(b[:0], r.Name) },
		"instant":  func(b []byte) { appendInstant(b[:0], r.Created) },
		"number":   func(b []byte) { strconv.AppendInt(b[:0], r.Created.Millis(), 10) },
	} {
		b.Run("of="+name, func(b *testing.B) {
			room := make([]byte, 4096)
			for b.Loop() {
				write(room)
			}
		})
	}
}
