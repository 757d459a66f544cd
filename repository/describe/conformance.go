package describe

import (
	"context"

	"labshelf/auth"
	"labshelf/formats/schemas"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/conformance"
	"labshelf/repository/internal/rows"
)

// Conformance is the result of validating a set or a file against its schema.
type Conformance struct {
	Applies  bool            // a schema applies; otherwise the other fields are zero
	Schema   metadata.Schema // the schema that applies
	Version  uint32          // the version in force: the one the properties name, or else the newest
	Form     schemas.Form
	Problems []schemas.Problem // by path, at most schemas.MaxProblems
}

// ResourceConformance returns the schema that applies to a file, and the problems of its
// properties.
func (s *Descriptions) ResourceConformance(ctx context.Context, p auth.Principal, id string) (Conformance, error) {
	return s.conformance(ctx, p, func(tx *metadata.Tx, p auth.Principal) (o conformance.Object, said string, err error) {
		resolved, err := core.LookupResource(tx, id)
		if err == nil {
			err = resolved.Admit(tx, p, auth.Read)
		}
		return conformance.OfResource(resolved.Resource), resolved.Descriptive, err
	})
}

// SetConformance returns the schema that applies to a set, and the problems of its properties.
func (s *Descriptions) SetConformance(ctx context.Context, p auth.Principal, id string) (Conformance, error) {
	return s.conformance(ctx, p, func(tx *metadata.Tx, p auth.Principal) (o conformance.Object, said string, err error) {
		resolved, err := core.LookupSet(tx, id, "")
		if err == nil {
			err = resolved.Admit(tx, p, auth.Read)
		}
		return conformance.OfSet(resolved.Set), resolved.Descriptive, err
	})
}

func (s *Descriptions) conformance(ctx context.Context, p auth.Principal, read func(*metadata.Tx, auth.Principal) (conformance.Object, string, error)) (c Conformance, err error) {
	var check conformance.Check
	err = s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
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
