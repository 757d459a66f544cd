package conformance

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"labshelf/formats/schemas"
	"labshelf/metadata"
)

// Bounds of what is kept. Beyond them it begins anew.
const (
	maxTexts    = 1 << 20 // bytes of the texts of compiled schemas
	maxVerdicts = 512
)

// RuleSchema is the rule of the one problem of an object whose schema does not compile any more.
const RuleSchema = "schema"

// Schemas compiles schemas and validates properties. It keeps some of what it has compiled and
// found: a version of a schema never changes. It is safe for concurrent use.
type Schemas struct {
	mu       sync.Mutex
	texts    int // bytes
	compiled map[metadata.SchemaVersionKey]compiled
	verdicts map[verdict][]schemas.Problem
}

// compiled is a version of a schema, or why there is none.
type compiled struct {
	schema *schemas.Schema
	err    error
}

// verdict is what is asked for: properties, by their SHA-256, and the version.
type verdict struct {
	version    metadata.SchemaVersionKey
	properties [sha256.Size]byte
}

// NewSchemas returns Schemas that keep nothing yet.
func NewSchemas() *Schemas {
	return &Schemas{compiled: map[metadata.SchemaVersionKey]compiled{}, verdicts: map[verdict][]schemas.Problem{}}
}

// Problems returns what is wrong with the properties of an object, in the order of their paths, at
// most schemas.MaxProblems. It takes up to some 0.2 s, unless it was asked the same before. The
// caller must not change them.
func (s *Schemas) Problems(ctx context.Context, c Check) []schemas.Problem {
	asked := verdict{c.Version.Key(), sha256.Sum256([]byte(c.Properties))}
	s.mu.Lock()
	problems, known := s.verdicts[asked]
	s.mu.Unlock()
	if known {
		return problems
	}
	schema, err := s.compile(c.Version)
	if err != nil {
		return []schemas.Problem{{Rule: RuleSchema, Message: fmt.Sprintf("cannot be checked: version %d of the schema is none any more: %v", c.Version.Number, err)}}
	}
	problems = schema.Validate(ctx, []byte(c.Properties))
	if ctx.Err() != nil {
		return problems // which may say that there was no time
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.verdicts) >= maxVerdicts {
		clear(s.verdicts)
	}
	s.verdicts[asked] = problems
	return problems
}

// Form returns what a page draws for a version of a schema; an empty one where that does not
// compile any more.
func (s *Schemas) Form(v metadata.SchemaVersion) schemas.Form {
	schema, err := s.compile(v)
	if err != nil {
		return schemas.Form{Fields: []schemas.Field{}}
	}
	return schema.Form()
}

func (s *Schemas) compile(v metadata.SchemaVersion) (*schemas.Schema, error) {
	s.mu.Lock()
	kept, known := s.compiled[v.Key()]
	s.mu.Unlock()
	if known {
		return kept.schema, kept.err
	}
	kept.schema, kept.err = schemas.Compile([]byte(v.Text))
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.compiled[v.Key()]; known {
		return kept.schema, kept.err
	}
	if s.texts += len(v.Text); s.texts > maxTexts {
		clear(s.compiled)
		s.texts = len(v.Text)
	}
	s.compiled[v.Key()] = kept
	return kept.schema, kept.err
}
