package repository

import (
	"context"
	"math"
	"strconv"

	"labshelf/auth"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/conformance"
	"labshelf/repository/internal/rows"
	"labshelf/schemas"
)

// ListSchemaVersions returns the last versions of a schema, at most 50, the newest first.
func (s *Service) ListSchemaVersions(ctx context.Context, p auth.Principal, id string) (list []SchemaVersion, err error) {
	err = s.viewDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
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
	err = s.view(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
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
	err = s.view(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
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
