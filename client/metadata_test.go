package client_test

import (
	"encoding/json"
	"strings"
	"testing"

	"labshelf/client"
	"labshelf/formats/descriptive"
)

// TestMetadata: metadata are returned as they were sent, in listings on request, and an edit
// without metadata keeps them.
func TestMetadata(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	ctx := t.Context()
	const ofSpace, ofSet, ofFile client.Metadata = `{"publisher":"<Curie>"}`, `{"publicationYear":2026}`, `{"tags":["a"],"properties":{"n":2.50e1}}`
	space := must[client.Dataspace](t)(c.Dataspaces.Create(ctx, client.NewDataspace{Name: "described", Metadata: ofSpace}))
	set := must[client.Set](t)(c.Sets.Create(ctx, client.NewSet{Name: "described", DataspaceID: space.ID, Metadata: ofSet}))
	file := must[client.Resource](t)(c.Resources.Create(ctx, client.NewResource{SetID: set.ID, Name: "a", Metadata: ofFile}, strings.NewReader("text"), 4))
	if space.Metadata != ofSpace || set.Metadata != ofSet || file.Metadata != ofFile {
		t.Errorf("created with %s, %s, %s", space.Metadata, set.Metadata, file.Metadata)
	}
	title := "other"
	if edited := must[client.Set](t)(c.Sets.Edit(ctx, set.ID, client.SetEdit{Title: &title})); edited.Metadata != ofSet {
		t.Errorf("after an edit of the title: %s", edited.Metadata)
	}
	edited := must[client.Resource](t)(c.Resources.Edit(ctx, file.ID, client.ResourceEdit{Metadata: `{"properties":null}`}))
	if m, err := descriptive.Parse([]byte(edited.Metadata)); err != nil || len(m.Tags) != 1 || len(m.Properties) != 0 {
		t.Errorf("after a patch: %s, %v", edited.Metadata, err)
	}
	for _, asked := range []bool{false, true} {
		want := client.Metadata("")
		if asked {
			want = `{"tags":["a"]}`
		}
		for r, err := range c.Sets.Resources(ctx, set.ID, client.ListOptions{Metadata: asked}) {
			if err != nil || r.Metadata != want {
				t.Errorf("requested: %v: %s, %v", asked, r.Metadata, err)
			}
		}
	}
	text := must[[]byte](t)(json.Marshal(edited))
	var again client.Resource
	if err := json.Unmarshal(text, &again); err != nil || again.Metadata != edited.Metadata || !strings.Contains(string(text), `"metadata":{"tags":["a"]}`) {
		t.Errorf("as JSON: %s, %v", text, err)
	}
}
