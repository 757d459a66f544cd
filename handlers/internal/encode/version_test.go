package encode

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"labshelf/handlers/wire"
	"labshelf/metadata"
)

// referenceVersion returns the wire form of a version.
func referenceVersion(base string, v Version) wire.Version {
	number := int64(v.Number) + 1
	address := fmt.Sprintf("%s/resources/%s/versions/%d", base, v.ResourceID, number)
	shown := wire.Version{
		Number: number, URL: address, DataURL: address + "/data", ResourceID: v.ResourceID.String(),
		Name: v.Name, Description: v.Description, Format: v.Format, Mimetype: v.MimeType, Bytes: v.Bytes, SHA256: v.Digest, Filename: v.Filename,
		Created: Time(v.Created), CreatedEpoch: Epoch(v.Created), CreatedBy: v.CreatedBy.String(),
		Label: v.Label, Current: v.Replaced == 0, Damaged: v.Damaged, Shared: v.Shared,
	}
	if v.Replaced != 0 {
		shown.Replaced, shown.ReplacedEpoch, shown.ReplacedBy = Time(v.Replaced), Epoch(v.Replaced), v.ReplacedBy.String()
	}
	if v.Removed.Rule != metadata.NotRemoved {
		shown.Removed, shown.Rule = Time(v.Removed.At), v.Removed.String()
	}
	if v.Removed.Rule == metadata.Erased {
		shown.RemovedBy = v.Removed.By.String()
	}
	return shown
}

func drawVersion(t *rapid.T) (v Version) {
	r := drawResource(t)
	v.Version = metadata.VersionOf(r)
	v.Number, v.Label = uint32(rapid.IntRange(0, 1e9).Draw(t, "number")), text().Draw(t, "label")
	v.Created, v.CreatedBy, v.ReplacedBy = r.Created, r.CreatedBy, r.ModifiedBy
	v.Shared = rapid.Bool().Draw(t, "shared")
	if rapid.Bool().Draw(t, "replaced") {
		v.Replaced = metadata.Stamp(rapid.Int64Range(1000, 4e15).Draw(t, "when"))
	}
	rule := rapid.SampledFrom([]metadata.RemovalRule{metadata.NotRemoved, metadata.ByRetention, metadata.WithResource, metadata.Erased}).Draw(t, "rule")
	if rule != metadata.NotRemoved {
		v.Removed = metadata.Removal{At: metadata.Stamp(rapid.Int64Range(1000, 4e15).Draw(t, "removed")), Rule: rule, By: r.SetID}
	}
	return v
}

// TestVersionEncoding compares a version, alone and in a page, byte by byte with
// the output of encoding/json.
func TestVersionEncoding(t *testing.T) {
	t.Parallel()
	var buffers Pages
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom([]string{"http://127.0.0.1:8080/v1", "https://labör.example/a\"b/v1", "https://x/{version}{name}/v1"}).Draw(t, "base")
		v := drawVersion(t)
		want := referenceVersion(base, v)
		if got, want := append(VersionLayout(base, "").Append(nil, &v), '\n'), JSON(want); !bytes.Equal(got, want) {
			t.Fatalf("a version is\n%s\nwant\n%s", got, want)
		}
		page := buffers.Begin(base)
		Add(page, VersionLayout(base, ItemIndent), &v)
		if got, want := page.bytes[page.room:], JSON(wire.Page[wire.Version]{Data: []wire.Version{want}}); !bytes.Contains(want, got) {
			t.Fatalf("an item of a page is\n%s\nwhich is missing in\n%s", got, want)
		}
		buffers.Done(page)
	})
}
