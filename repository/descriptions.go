package repository

import (
	"encoding/json"
	"errors"

	"labshelf/descriptive"
	"labshelf/repository/internal/rows"
)

// metadataSetter merges a patch of a person into the descriptive metadata of an object: null removes, here alone.
func metadataSetter[T any](kind descriptive.Kind, at func(*T) *string) func(*T, string, any) error {
	return func(object *T, field string, value any) error {
		patch, ok := value.(json.RawMessage)
		if !ok {
			return invalid(field, "%s must be an object", field)
		}
		return describe(kind, at(object), patch, false)
	}
}

// describe merges a patch into the descriptive metadata of an object, canonical JSON or "". What it sets or removes has no source any more, and
// only instruments add sources: a person who does is refused, and what arrives with a file, perhaps from another repository, loses them.
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
		after.KeepSources(before)
		err = after.Validate(kind)
	}
	if err = descriptiveError(err); err == nil {
		*stored = textOf(after)
	}
	return err
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
