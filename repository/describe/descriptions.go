// Package describe offers the use cases of descriptive metadata: descriptions of objects by people
// and instruments, their schemas, and edits of many files at a time. It builds on package core.
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

// Descriptions merges and validates descriptive metadata. It is safe for concurrent use.
type Descriptions struct {
	core        *core.Core
	schemas     *conformance.Schemas
	instruments *instruments.Instruments
}

// Start returns the descriptions of a repository. If reader is not nil, its readings of files are
// filled in as properties in the background. The caller must close the Descriptions before the
// Core.
func Start(core *core.Core, schemas *conformance.Schemas, reader instruments.Reader) *Descriptions {
	s := &Descriptions{core: core, schemas: schemas}
	s.instruments = instruments.Start(core.Stores, filling{s}, reader)
	return s
}

// Grown must be called when a commit has added to the audit log.
func (s *Descriptions) Grown() { s.instruments.Grown() }

// Close stops the background work.
func (s *Descriptions) Close() { s.instruments.Close() }

// Describe merges a patch into stored, the descriptive metadata of an object as canonical JSON or
// "". A nil patch changes nothing. Values that the patch sets or removes lose their source. Only
// instruments may add sources: Describe rejects a patch that does, but silently drops the sources
// if the metadata arrive with a file, perhaps from another repository.
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
		return core.Invalid(descriptive.Root+".sources."+core.Shorten(name), "sources record which values the service has filled from files; entries can be removed, but not added or changed")
	}
	if err == nil {
		err = after.ReadQuantities(before)
	}
	if err == nil {
		after.KeepSources(before)
		complete := after
		if kind != descriptive.Dataspace && (complete.Schema.ID == "" || complete.Schema.Version == 0) { // Conform completes a partial schema
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
	of      conformance.Object // the object after the change
	kind    descriptive.Kind
	before  string  // canonical JSON or ""
	after   *string // set by Describe
	Made    bool    // with a new object: unknown schema versions are dropped
	arrives bool    // with a file or from an instrument: never refused by a schema
}

// OfSet describes a change of a set's descriptive metadata by a person.
func OfSet(before string, after *metadata.Set) description {
	return description{of: conformance.OfSet(*after), kind: descriptive.Set, before: before, after: &after.Descriptive}
}

// OfResource describes a change of a file's descriptive metadata by a person.
func OfResource(before string, after *metadata.Resource) description {
	return description{of: conformance.OfResource(*after), kind: descriptive.Resource, before: before, after: &after.Descriptive}
}

// Arriving describes the descriptive metadata of an uploaded file.
func Arriving(before string, after *metadata.Resource) description {
	d := OfResource(before, after)
	d.Made, d.arrives = true, true
	return d
}

// Describing runs check in a write transaction. If the request has a patch, it first runs check in
// a read transaction, so that validation against a schema does not block other writers.
func (s *Descriptions) Describing(ctx context.Context, p auth.Principal, patch descriptive.Patch, check core.Intent) error {
	if patch != nil {
		if err := s.core.View(ctx, p, check.Only); err != nil {
			return err
		}
	}
	return s.core.Update(ctx, p, check.AndWrite)
}

// Conform follows Describe in the transaction of the change. It records the version of the schema
// in force, and rejects properties that break an enforced schema. A version that a person names
// must belong to the schema that applies. Validation takes time, so the caller makes the same check
// in a read transaction first; Conform then finds the result in a cache.
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

// pin completes the schema version that metadata name. schema is the one that applies; it has no id
// if none applies. Any other schema is an error, or dropped if lenient is set.
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

// refusal returns the error for properties that a schema does not allow, or nil without problems.
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
	return core.Invalid(field, "%s %s; the schema %s requires it%s", field, problems[0].Message, schema.Name, more)
}

// descriptiveError converts an error of package descriptive to an error for clients.
func descriptiveError(err error) error {
	if wrong, is := errors.AsType[*descriptive.Error](err); is {
		return core.Invalid(wrong.Field, "%s", wrong.Error())
	}
	return err
}

// textOf returns the stored form of descriptive metadata.
func textOf(m descriptive.Metadata) string {
	if m.IsZero() {
		return ""
	}
	return string(m.Append(nil))
}
