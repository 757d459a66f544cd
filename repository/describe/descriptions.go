// Package describe is the room of descriptive metadata: what people and instruments say about
// objects, the schemas that it follows, and edits of many files at once. It stands on core.
package describe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"labshelf/auth"
	"labshelf/formats/descriptive"
	"labshelf/formats/schemas"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/instruments"
	"labshelf/repository/internal/conformance"
	"labshelf/repository/internal/rows"
)

// Descriptions merges and validates what is said about objects. It is safe for concurrent use.
type Descriptions struct {
	core        *core.Core
	schemas     *conformance.Schemas
	instruments *instruments.Instruments
}

// Start returns the descriptions of a repository, and fills in what reader reads of files; nil:
// nothing. The caller closes them before the Core.
func Start(core *core.Core, schemas *conformance.Schemas, reader instruments.Reader) *Descriptions {
	s := &Descriptions{core: core, schemas: schemas}
	s.instruments = instruments.Start(core.Stores, filling{s}, reader)
	return s
}

// Grown is called when a commit has added to the audit log.
func (s *Descriptions) Grown() { s.instruments.Grown() }

// Close stops what runs in the background.
func (s *Descriptions) Close() { s.instruments.Close() }

// Describe merges a patch (nil: none) into the descriptive metadata of an object, canonical JSON or
// "". What it sets or removes has no source any more, and only instruments add sources: a person
// who does is refused, and what arrives with a file, perhaps from another repository, loses them.
func Describe(kind descriptive.Kind, stored *string, patch descriptive.Patch, arrives bool) error {
	if patch == nil {
		return nil
	}
	before, err := rows.ParseDescriptive(*stored)
	if err != nil {
		return err
	}
	after, err := before.Merge(patch)
	if name, added := after.Sources.Added(before.Sources); err == nil && added && !arrives {
		return core.Invalid(descriptive.Root+".sources."+core.Shorten(name), "sources say what instruments have filled; an entry can be removed, and none be added or changed")
	}
	if err == nil {
		err = after.ReadQuantities(before)
	}
	if err == nil {
		after.KeepSources(before)
		complete := after
		if kind != descriptive.Dataspace && (complete.Schema.ID == "" || complete.Schema.Version == 0) { // conform knows the rest
			complete.Schema = descriptive.SchemaVersion{}
		}
		err = complete.Validate(kind)
	}
	if err = descriptiveError(err); err == nil {
		*stored = textOf(after)
	}
	return err
}

// description is a change of the descriptive metadata of a set or a file.
type description struct {
	of      conformance.Object // as it will be
	kind    descriptive.Kind
	before  string  // canonical JSON or ""
	after   *string // as describe has made it
	Made    bool    // with the object: it may come from a repository with other schemas, whose versions are left out
	arrives bool    // with a file, or from an instrument: it is never refused for what a schema asks for
}

// OfSet is a person's change of what is said about a set.
func OfSet(before string, after *metadata.Set) description {
	return description{of: conformance.OfSet(*after), kind: descriptive.Set, before: before, after: &after.Descriptive}
}

// OfResource is a person's change of what is said about a file.
func OfResource(before string, after *metadata.Resource) description {
	return description{of: conformance.OfResource(*after), kind: descriptive.Resource, before: before, after: &after.Descriptive}
}

// Arriving is what is said about a file that arrives.
func Arriving(before string, after *metadata.Resource) description {
	d := OfResource(before, after)
	d.Made, d.arrives = true, true
	return d
}

// Describing updates. Where a request says something that a schema may not allow, that is found out
// before, without keeping others from writing.
func (s *Descriptions) Describing(ctx context.Context, p auth.Principal, patch descriptive.Patch, check core.Intent) error {
	if patch != nil {
		if err := s.core.View(ctx, p, check.Only); err != nil {
			return err
		}
	}
	return s.core.Update(ctx, p, check.AndWrite)
}

// Conform follows describe in the transaction of the change: it notes the version of the schema
// that the properties are made with, and refuses what breaks a schema that enforces. A version that
// people name must be one of the schema that applies. Validation takes time: the same check has
// been made before, in a transaction that only reads, whose verdict is found here.
func (s *Descriptions) Conform(ctx context.Context, tx *metadata.Tx, d description) error {
	if *d.after == d.before {
		return nil
	}
	was, err := rows.ParseDescriptive(d.before)
	now, failed := rows.ParseDescriptive(*d.after)
	if err = errors.Join(err, failed); err != nil || now.Schema == was.Schema && now.Properties.JSON() == was.Properties.JSON() {
		return err
	}
	finder := conformance.NewFinder(tx)
	schema, found, err := finder.Applying(d.of)
	if err != nil {
		return err
	}
	if err := pin(&now, was, schema, d.Made); err != nil {
		return err
	}
	if err := descriptiveError(now.Validate(d.kind)); err != nil {
		return err
	}
	*d.after = textOf(now)
	if !found || !schema.Enforce || d.arrives {
		return nil
	}
	check, _, err := finder.Check(d.of, now)
	if err != nil {
		return err
	}
	return refusal(schema, s.schemas.Problems(ctx, check))
}

// pin completes the version of a schema that metadata name. schema is the one that applies; without
// an id, none does. Another one is refused, or left out where lenient is set.
func pin(now *descriptive.Metadata, was descriptive.Metadata, schema metadata.Schema, lenient bool) error {
	newest := descriptive.SchemaVersion{ID: schema.ID.String(), Version: int(schema.Version)}
	if schema.ID == (metadata.ID{}) {
		newest = descriptive.SchemaVersion{}
	}
	if named := now.Schema; named != (descriptive.SchemaVersion{}) && named != was.Schema {
		named.ID, named.Version = cmp.Or(named.ID, newest.ID), cmp.Or(named.Version, newest.Version)
		exists := newest.ID != "" && named.ID == newest.ID && named.Version >= 1 && named.Version <= newest.Version
		if !exists && !lenient {
			return core.Invalid(descriptive.Root+".schema", "%s.schema must name the schema that applies here, and a version that it has", descriptive.Root)
		}
		if now.Schema = named; !exists {
			now.Schema = descriptive.SchemaVersion{}
		}
	}
	if len(now.Properties) > 0 && newest.ID != "" && now.Schema.ID != newest.ID {
		now.Schema = newest
	}
	return nil
}

// refusal is the error of properties that a schema does not allow; nil where there is nothing
// wrong.
func refusal(schema metadata.Schema, problems []schemas.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	field, more := descriptive.Root+".properties", ""
	for name := range strings.SplitSeq(strings.TrimPrefix(problems[0].Path, "/"), "/") {
		if name != "" {
			field += "." + core.Shorten(strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~"))
		}
	}
	if len(problems) > 1 {
		more = fmt.Sprintf(", and %d more", len(problems)-1)
	}
	return core.Invalid(field, "%s %s; the schema %s asks for it%s", field, problems[0].Message, schema.Name, more)
}

// descriptiveError is the error that a client sees of what package descriptive refuses.
func descriptiveError(err error) error {
	if wrong, is := errors.AsType[*descriptive.Error](err); is {
		return core.Invalid(wrong.Field, "%s", wrong.Error())
	}
	return err
}

// textOf is how descriptive metadata are stored.
func textOf(m descriptive.Metadata) string {
	if m.IsZero() {
		return ""
	}
	return string(m.Append(nil))
}
