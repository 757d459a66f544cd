package conformance

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"labshelf/formats/schemas"
	"labshelf/metadata"
)

// Bounds of the caches. A cache that exceeds its bound is cleared.
const (
	maxTexts    = 1 << 20 // bytes of the source texts of compiled schemas
	maxVerdicts = 512
)

// RuleSchema is the rule of the only problem of an object whose schema no longer compiles.
const RuleSchema = "schema"

// Schemas compiles schemas and validates properties. It caches compiled schemas and results, since
// a version of a schema never changes. It is safe for concurrent use.
type Schemas struct {
	mu       sync.Mutex
	texts    int // bytes
	compiled map[metadata.SchemaVersionKey]compiled
	verdicts map[verdict][]schemas.Problem
}

// compiled is a compiled version of a schema, or the error of compiling it.
type compiled struct {
	schema *schemas.Schema
	err    error
}

// verdict is the key of a cached result: a version, and the SHA-256 of the properties.
type verdict struct {
	version    metadata.SchemaVersionKey
	properties [sha256.Size]byte
}

// NewSchemas returns Schemas with empty caches.
func NewSchemas() *Schemas {
	return &Schemas{compiled: map[metadata.SchemaVersionKey]compiled{}, verdicts: map[verdict][]schemas.Problem{}}
}

// Problems returns the problems of an object's properties, in the order of their paths, at most
// schemas.MaxProblems. A call takes up to about 0.2 s if the result is not cached. The caller must
// not change the result.
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
		return []schemas.Problem{{Rule: RuleSchema, Message: fmt.Sprintf("cannot be checked: version %d of the schema is no longer valid: %v", c.Version.Number, err)}}
	}
	problems = schema.Validate(ctx, []byte(c.Properties))
	if ctx.Err() != nil {
		return problems // not cached: ctx ended, so the result may be incomplete
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.verdicts) >= maxVerdicts {
		clear(s.verdicts)
	}
	s.verdicts[asked] = problems
	return problems
}

// Form returns the form that a page shows for a version of a schema. It is empty if the version no
// longer compiles.
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
