package repository_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/files"
	"labshelf/repository/repositorytest"
)

// A simple model of the rules in docs/reference/schema-language.md: it tests the fit of every
// schema, and every property.

// ruledSchema is a schema whose versions require properties with string values.
type ruledSchema struct {
	id              string
	name            string
	forSets         bool
	types           []string
	enforce, active bool
	versions        [][]string // the required names, by version
}

// ruledObject is a file, or a set if the resource is zero.
type ruledObject struct {
	id                  string
	isSet               bool
	name, format, media string
	properties          map[string]any // strings and numbers
	pinID               string
	pinVersion          int
}

// fit returns how well a type of a schema fits a file, or 0 if it does not fit.
func (o ruledObject) fit(word string) int {
	word, name := strings.ToLower(word), strings.ToLower(o.name)
	media := strings.Split(o.media, ";")[0]
	switch {
	case strings.HasPrefix(word, ".") && strings.HasSuffix(name, word), word == media:
		return 4
	case word == strings.ToLower(o.format):
		return 3
	case strings.HasSuffix(word, "/*") && strings.Split(media, "/")[0] == strings.TrimSuffix(word, "/*"):
		return 2
	}
	return 0
}

// applying returns the schema that applies, or nil.
func (o ruledObject) applying(all []*ruledSchema) (best *ruledSchema) {
	most := 0
	for _, s := range all { // the oldest first
		fits := 0
		if s.active && s.forSets == o.isSet && len(s.types) == 0 {
			fits = 1
		}
		for _, word := range s.types {
			if s.active && s.forSets == o.isSet {
				fits = max(fits, o.fit(word))
			}
		}
		if fits > most {
			best, most = s, fits
		}
	}
	return best
}

// lacks returns the problems of an object, and the version of the schema that reports them, or 0 if
// no schema applies.
func (o ruledObject) lacks(all []*ruledSchema) (version int, problems []string) {
	s := o.applying(all)
	if s == nil {
		return 0, nil
	}
	version = len(s.versions)
	if o.pinID == s.id {
		version = o.pinVersion
	}
	for _, name := range s.versions[version-1] {
		value, has := o.properties[name]
		_, isText := value.(string)
		switch {
		case !has:
			problems = append(problems, "/"+name+" required")
		case !isText:
			problems = append(problems, "/"+name+" type")
		}
	}
	slices.Sort(problems)
	return version, problems
}

// changed returns the object after a person's patch. If the patch is refused, refused is the
// beginning of the named field.
func (o ruledObject) changed(all []*ruledSchema, patch map[string]any) (after ruledObject, refused string) {
	after = o
	after.properties = maps.Clone(o.properties)
	properties, _ := patch["properties"].(map[string]any)
	for name, value := range properties {
		if after.properties[name] = value; value == nil {
			delete(after.properties, name)
		}
	}
	s := o.applying(all)
	pin, named := patch["schema"]
	switch fields, _ := pin.(map[string]any); {
	case !named:
	case fields == nil:
		after.pinID, after.pinVersion = "", 0
	default:
		after.pinVersion = fields["version"].(int)
		if after.pinID == "" && s != nil {
			after.pinID = s.id
		}
		same := o.pinID == after.pinID && o.pinVersion == after.pinVersion
		if !same && (s == nil || after.pinID != s.id || after.pinVersion < 1 || after.pinVersion > len(s.versions)) {
			return o, "metadata.schema"
		}
	}
	if maps.Equal(after.properties, o.properties) && after.pinID == o.pinID && after.pinVersion == o.pinVersion {
		return o, ""
	}
	if s != nil && len(after.properties) > 0 && after.pinID != s.id {
		after.pinID, after.pinVersion = s.id, len(s.versions)
	}
	if _, problems := after.lacks(all); s != nil && s.enforce && len(problems) > 0 {
		return o, "metadata.properties."
	}
	return after, ""
}

// ruled is a world with its model.
type ruled struct {
	*searched
	random  *rand.Rand
	schemas []*ruledSchema
	objects []ruledObject
}

var (
	ruledNames = []string{"a", "b", "c"}
	ruledTypes = []string{".csv", ".ome.tif", ".TIF", "csv", "tif", "text/csv", "image/tiff", "text/*", "image/*", "application/*", "none"}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// some draws each element with probability 1 in n.
func some[T any](r *rand.Rand, n int, from []T) []T {
	list := []T{}
	for _, one := range from {
		if r.IntN(n) == 0 {
			list = append(list, one)
		}
	}
	return list
}

// anys returns words as a decoded JSON list.
func anys(words []string) (list []any) {
	list = []any{}
	for _, word := range words {
		list = append(list, word)
	}
	return list
}

// changeSchema creates, changes, deletes or restores a schema.
func (w *ruled) changeSchema() {
	ctx, r := w.T.Context(), w.random
	if len(w.schemas) < 6 && r.IntN(2) == 0 || len(w.schemas) == 0 {
		s := &ruledSchema{name: fmt.Sprint("schema-", len(w.schemas)), forSets: r.IntN(4) == 0, enforce: r.IntN(3) == 0, active: true, versions: [][]string{some(r, 2, ruledNames)}}
		fields := describe.NewSchema{For: metadata.ForSets, SchemaFields: describe.SchemaFields{Name: &s.name, Enforce: &s.enforce, Text: needs(s.versions[0]...)}}
		if !s.forSets {
			s.types = some(r, 5, ruledTypes)
			fields.Types, fields.For = s.types, metadata.ForFiles
		}
		made, err := w.Service.Schemas.Create(ctx, w.Admin, w.Space.ID.String(), fields)
		w.OK(err)
		s.id = made.ID.String()
		w.schemas = append(w.schemas, s)
		return
	}
	s := pick(r, w.schemas)
	switch what := r.IntN(4); {
	case what == 0:
		_, err := w.Service.Schemas.Delete(ctx, w.Admin, s.id, repositorytest.Always)
		w.OK(err)
		s.active = false
	case !s.active:
		_, err := w.Service.Schemas.Restore(ctx, w.Admin, s.id, repositorytest.Always)
		w.OK(err)
		s.active = true
	default:
		s.enforce = r.IntN(3) == 0
		fields := describe.SchemaFields{Enforce: &s.enforce}
		if required := some(r, 2, ruledNames); what == 1 && !slices.Equal(required, s.versions[len(s.versions)-1]) {
			s.versions = append(s.versions, required)
			fields.Text = needs(required...)
		}
		if what == 2 && !s.forSets {
			s.types = some(r, 5, ruledTypes)
			fields.Types = s.types
		}
		_, err := w.Service.Schemas.Update(ctx, w.Admin, s.id, fields, core.Match{})
		w.OK(err)
	}
}

// changeObject patches an object as a person.
func (w *ruled) changeObject() {
	r, at := w.random, w.random.IntN(len(w.objects))
	patch := map[string]any{}
	if r.IntN(4) > 0 {
		properties := map[string]any{}
		for _, name := range some(r, 2, ruledNames) {
			properties[name] = pick(r, []any{"text", "text", "text", 1, nil})
		}
		patch["properties"] = properties
	}
	if r.IntN(3) == 0 {
		patch["schema"] = pick(r, []any{nil, map[string]any{"version": 1 + r.IntN(3)}})
	}
	want, refused := w.objects[at].changed(w.schemas, patch)
	text, err := json.Marshal(patch)
	w.OK(err)
	if want.isSet {
		_, err = w.Service.Sets.Update(w.T.Context(), w.Admin, want.id, containers.SetFields{Metadata: text}, core.Match{})
	} else {
		_, err = w.Service.Files.Edit(w.T.Context(), w.Admin, want.id, files.Fields{Metadata: text}, core.Match{})
	}
	known, is := errors.AsType[*errs.Error](err)
	if err != nil && !is || is != (refused != "") || is && !strings.HasPrefix(known.Field, refused) {
		w.T.Fatalf("%s of %+v: %v, want it refused for %q", text, w.objects[at], err, refused)
	}
	w.objects[at] = want
}

// renameObject gives a file another name and format. The service never refuses this.
func (w *ruled) renameObject() {
	o := &w.objects[w.random.IntN(len(w.objects))]
	if o.isSet {
		return
	}
	o.name, o.format = pick(w.random, []string{"x.csv", "x.TIF", "x.ome.tif", "x", "x.y"}), pick(w.random, []string{"CSV", "tif", "none", ""})
	_, err := w.Service.Files.Edit(w.T.Context(), w.Admin, o.id, files.Fields{Name: new(o.name), Format: new(o.format)}, core.Match{})
	w.OK(err)
}

// compare compares all objects in the service with the model. It compares the search only at some
// steps, because the index has to be up to date first.
func (w *ruled) compare(step int) {
	ctx := w.T.Context()
	var incomplete []string
	for _, o := range w.objects {
		of := w.Service.Descriptions.ResourceConformance
		if o.isSet {
			of = w.Service.Descriptions.SetConformance
		}
		c, err := of(ctx, w.Admin, o.id)
		w.OK(err)
		got := []string{}
		for _, p := range c.Problems {
			got = append(got, p.Path+" "+p.Rule)
		}
		slices.Sort(got)
		version, want := o.lacks(w.schemas)
		if c.Version != uint32(version) || !slices.Equal(got, want) || c.Applies != (version > 0) || version > 0 && c.Schema.ID.String() != o.applying(w.schemas).id {
			w.T.Fatalf("step %d: %+v: version %d of %s, %q; want version %d, %q", step, o, c.Version, c.Schema.Name, got, version, want)
		}
		if len(want) > 0 {
			incomplete = append(incomplete, o.id)
		}
	}
	if step%25 != 0 {
		return
	}
	w.OK(w.Service.Search.Indexed(ctx))
	found, err := w.Service.Search.Search(ctx, w.Admin, core.ListRequest{Selection: paging.Selection{Text: "is:incomplete", Limit: 100}})
	w.OK(err)
	var hits []string
	for _, h := range found.Items {
		id := h.Resource.ID
		if h.Set.ID != (metadata.ID{}) {
			id = h.Set.ID
		}
		hits = append(hits, id.String())
	}
	slices.Sort(hits)
	slices.Sort(incomplete)
	if !slices.Equal(hits, incomplete) {
		w.T.Fatalf("step %d: is:incomplete finds %q, want %q", step, hits, incomplete)
	}
}

// TestSchemasAtRandom: after any changes of schemas and objects, these match the model: the
// applying schema, the version, the problems, the refusals, and the hits of is:incomplete.
func TestSchemasAtRandom(t *testing.T) {
	t.Parallel()
	steps, seed := 300, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("SCHEMA_STEPS")); err == nil {
		steps, seed = n, rand.Uint64()
	}
	t.Logf("seed %d", seed)
	s := newSearched(t, 0, 0)
	w := &ruled{searched: s, random: rand.New(rand.NewPCG(seed, 0))}
	for _, set := range s.Sets {
		w.objects = append(w.objects, ruledObject{id: set.ID.String(), isSet: true, properties: map[string]any{}})
	}
	for i, media := range []string{"text/csv", "text/csv; charset=utf-8", "image/tiff", "image/png", "application/x-unknown", "text/plain"} {
		r := s.Upload(s.Sets[i%2], fmt.Sprint("file", i))
		s.OK(s.replace(r, fmt.Sprint("content", i), media))
		w.objects = append(w.objects, ruledObject{id: r.ID.String(), name: r.Name, media: media, properties: map[string]any{}})
	}
	for step := range steps {
		switch n := w.random.IntN(10); {
		case n < 3:
			w.changeSchema()
		case n < 4:
			w.renameObject()
		default:
			w.changeObject()
		}
		w.compare(step)
	}
}
