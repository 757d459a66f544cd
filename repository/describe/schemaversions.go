package describe

import (
	"context"
	"math"
	"strconv"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
)

// ListVersions returns the last versions of a schema, at most 50, newest first.
func (s *Schemas) ListVersions(ctx context.Context, p auth.Principal, id string) (list []SchemaVersion, err error) {
	err = s.core.ReadDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
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

// GetVersion returns a version of a schema by its number.
func (s *Schemas) GetVersion(ctx context.Context, p auth.Principal, id, number string) (v SchemaVersion, err error) {
	err = s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		schema, err := lookupSchema(tx, p, id, auth.Read)
		if err != nil {
			return err
		}
		n, err := core.NumberWithin("number", number, 1, uint64(schema.Version))
		if err != nil {
			return &errs.Error{Kind: errs.NotFound, Code: errs.CodeVersionNotFound, Message: "the schema has no version with this number; its versions are numbered from 1 to " + strconv.Itoa(int(schema.Version))}
		}
		v.SchemaVersion, err = tx.SchemaVersions.Get(metadata.SchemaVersionKey{Schema: schema.ID, Number: uint32(n)})
		return err
	})
	if err == nil {
		v.Form = s.schemas.Form(v.SchemaVersion)
	}
	return v, err
}
