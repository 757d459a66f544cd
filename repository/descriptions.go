package repository

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/formats/schemas"
	"labshelf/metadata"
	"labshelf/repository/internal/conformance"
	"labshelf/repository/internal/rows"
)

// metadataSetter merges a patch of a person into the descriptive metadata of an object: null
// removes, here alone.
func metadataSetter[T any](kind descriptive.Kind, at func(*T) *string) func(*T, string, any) error {
	return func(object *T, field string, value any) error {
		patch, ok := value.(json.RawMessage)
		if !ok {
			return invalid(field, "%s must be an object", field)
		}
		return describe(kind, at(object), patch, false)
	}
}

// describe merges a patch into the descriptive metadata of an object, canonical JSON or "". What it
// sets or removes has no source any more, and only instruments add sources: a person who does is
// refused, and what arrives with a file, perhaps from another repository, loses them.
func describe(kind descriptive.Kind, stored *string, patch []byte, arrives bool) error {
	before, err := rows.ParseDescriptive(*stored)
	if err != nil {
		return err
	}
	after, err := before.Merge(patch)
	if name, added := after.Sources.Added(before.Sources); err == nil && added && !arrives {
		return invalid(descriptive.Root+".sources."+Shorten(name), "sources say what instruments have filled; an entry can be removed, and none be added or changed")
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
	made    bool    // with the object: it may come from a repository with other schemas, whose versions are left out
	arrives bool    // with a file, or from an instrument: it is never refused for what a schema asks for
}

// ofSet is a person's change of what is said about a set.
func ofSet(before string, after *metadata.Set) description {
	return description{of: conformance.OfSet(*after), kind: descriptive.Set, before: before, after: &after.Descriptive}
}

// ofResource is a person's change of what is said about a file.
func ofResource(before string, after *metadata.Resource) description {
	return description{of: conformance.OfResource(*after), kind: descriptive.Resource, before: before, after: &after.Descriptive}
}

// arriving is what is said about a file that arrives.
func arriving(before string, after *metadata.Resource) description {
	d := ofResource(before, after)
	d.made, d.arrives = true, true
	return d
}

// describing updates. Where a request says something that a schema may not allow, that is found out
// before, without keeping others from writing.
func (s *Service) describing(ctx context.Context, p auth.Principal, f Fields, check intent) error {
	if _, said := f[descriptive.Root]; said {
		if err := s.view(ctx, p, check.only); err != nil {
			return err
		}
	}
	return s.update(ctx, p, check.andWrite)
}

// conform follows describe in the transaction of the change: it notes the version of the schema
// that the properties are made with, and refuses what breaks a schema that enforces. A version that
// people name must be one of the schema that applies. Validation takes time: the same check has
// been made before, in a transaction that only reads, whose verdict is found here.
func (s *Service) conform(ctx context.Context, tx *metadata.Tx, d description) error {
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
	if err := pin(&now, was, schema, d.made); err != nil {
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

// filling is what instruments ask of a Service. They act for nobody, on files of sets whose writers
// have asked for it.
type filling struct{ *Service }

func (f filling) resolve(tx *metadata.Tx, id metadata.ID) (r resolvedResource, err error) {
	f.useFacts(tx)
	if r.Resource, err = tx.Resources.Get(id); err == nil {
		r.set, err = resolveSet(tx, r.SetID)
	}
	return r, err
}

// Lookup implements instruments.Rules.
func (f filling) Lookup(tx *metadata.Tx, id metadata.ID) (metadata.Resource, metadata.Extract, error) {
	resolved, err := f.resolve(tx, id)
	r, set := resolved.shown(), resolved.set.shown()
	if err != nil || r.State != metadata.Active || set.State != metadata.Active || set.Extract == 0 {
		return r, 0, err
	}
	return r, set.Extract, rows.Described(tx, r.ID, &r.Descriptive)
}

// Fill implements instruments.Rules. The record goes on to name the person who has changed it last;
// the entry of the log names nobody.
func (f filling) Fill(ctx context.Context, tx *metadata.Tx, id metadata.ID, now descriptive.Metadata, cause uint64) error {
	resolved, err := f.resolve(tx, id)
	if err == nil {
		err = rows.Described(tx, id, &resolved.Descriptive)
	}
	if err != nil {
		return err
	}
	filled := resolved.shown()
	filled.Descriptive = textOf(now)
	if err := f.conform(ctx, tx, arriving(resolved.Descriptive, &filled)); err != nil {
		return err
	}
	return resolved.write(tx, rows.Change{Action: audit.ResourceEdit, Cause: cause}, &filled)
}

// Filled returns when instruments have done what everything asks for that is committed when it is
// called; for tests and measurements.
func (s *Service) Filled(ctx context.Context) error {
	size, err := s.logSize(ctx)
	if err != nil {
		return err
	}
	return s.instruments.Followed(ctx, size)
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
			return invalid(descriptive.Root+".schema", "%s.schema must name the schema that applies here, and a version that it has", descriptive.Root)
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
			field += "." + Shorten(strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~"))
		}
	}
	if len(problems) > 1 {
		more = fmt.Sprintf(", and %d more", len(problems)-1)
	}
	return invalid(field, "%s %s; the schema %s asks for it%s", field, problems[0].Message, schema.Name, more)
}

// descriptiveError is the error that a client sees of what package descriptive refuses.
func descriptiveError(err error) error {
	if wrong, is := errors.AsType[*descriptive.Error](err); is {
		return invalid(wrong.Field, "%s", wrong.Error())
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

// ListSchemaVersions returns the last versions of a schema, at most 50, the newest first.
func (s *Service) ListSchemaVersions(ctx context.Context, p auth.Principal, id string) (list []SchemaVersion, err error) {
	err = s.readDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		list = []SchemaVersion{}
		schema, err := lookupSchema(tx, p, id, auth.Read)
		if err != nil {
			return err
		}
		versions, err := rows.Collect(tx.SchemaVersions.Before(metadata.SchemaVersionKey{Schema: schema.ID, Number: math.MaxUint32}), maxVersionsShown)
		for _, v := range versions {
			list = append(list, SchemaVersion{SchemaVersion: v})
		}
		return err
	})
	for i := range list {
		list[i].Form = s.schemas.Form(list[i].SchemaVersion)
	}
	return list, err
}

// GetSchemaVersion returns a version of a schema by its number.
func (s *Service) GetSchemaVersion(ctx context.Context, p auth.Principal, id, number string) (v SchemaVersion, err error) {
	err = s.read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		schema, err := lookupSchema(tx, p, id, auth.Read)
		if err != nil {
			return err
		}
		n, err := numberWithin("number", number, 1, uint64(schema.Version))
		if err != nil {
			return &errs.Error{Kind: errs.NotFound, Code: errs.CodeVersionNotFound, Message: "the schema has no version with this number; they go from 1 to " + strconv.Itoa(int(schema.Version))}
		}
		v.SchemaVersion, err = tx.SchemaVersions.Get(metadata.SchemaVersionKey{Schema: schema.ID, Number: uint32(n)})
		return err
	})
	if err == nil {
		v.Form = s.schemas.Form(v.SchemaVersion)
	}
	return v, err
}

// Conformance is what a schema says of a set or a file.
type Conformance struct {
	Applies  bool            // a schema does; without one there is nothing else
	Schema   metadata.Schema // that applies
	Version  uint32          // of it, with which the properties were made; the newest one where they name none
	Form     schemas.Form
	Problems []schemas.Problem // by path, at most schemas.MaxProblems; an object that has some is incomplete
}

// ResourceConformance returns which schema applies to a file, and what its properties lack.
func (s *Service) ResourceConformance(ctx context.Context, p auth.Principal, id string) (Conformance, error) {
	return s.conformance(ctx, p, func(tx *metadata.Tx, p auth.Principal) (o conformance.Object, said string, err error) {
		resolved, err := lookupResource(tx, id)
		if err == nil {
			err = resolved.admit(tx, p, auth.Read)
		}
		return conformance.OfResource(resolved.Resource), resolved.Descriptive, err
	})
}

// SetConformance returns which schema applies to a set, and what its properties lack.
func (s *Service) SetConformance(ctx context.Context, p auth.Principal, id string) (Conformance, error) {
	return s.conformance(ctx, p, func(tx *metadata.Tx, p auth.Principal) (o conformance.Object, said string, err error) {
		resolved, err := lookupSet(tx, id, "")
		if err == nil {
			err = resolved.admit(tx, p, auth.Read)
		}
		return conformance.OfSet(resolved.Set), resolved.Descriptive, err
	})
}

func (s *Service) conformance(ctx context.Context, p auth.Principal, read func(*metadata.Tx, auth.Principal) (conformance.Object, string, error)) (c Conformance, err error) {
	var check conformance.Check
	err = s.read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		object, stored, err := read(tx, p)
		if err != nil {
			return err
		}
		said, err := rows.ParseDescriptive(stored)
		if err != nil {
			return err
		}
		check, c.Applies, err = conformance.NewFinder(tx).Check(object, said)
		return err
	})
	if err != nil || !c.Applies {
		return Conformance{}, err
	}
	c.Schema, c.Version, c.Form = check.Schema, check.Version.Number, s.schemas.Form(check.Version)
	c.Problems = s.schemas.Problems(ctx, check)
	return c, nil
}
