package storage

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"labshelf/auth/errs"
	"labshelf/metadata"
)

// Operation records whether a request of several commits may have changed something. Such a request
// is never answered as refused. A nil Operation has changed nothing.
type Operation struct {
	outer   *Operation
	changed atomic.Bool
}

type operationKey struct{}

// Begin returns a new operation, and a context for its commits. A commit under that context also
// counts for the operations of ctx.
func Begin(ctx context.Context) (context.Context, *Operation) {
	o := &Operation{outer: operationOf(ctx)}
	return context.WithValue(ctx, operationKey{}, o), o
}

func operationOf(ctx context.Context) *Operation {
	o, _ := ctx.Value(operationKey{}).(*Operation)
	return o
}

// committed records the outcome of a commit under a context. It returns err.
func committed(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, metadata.ErrOutcomeUnknown) {
		for o := operationOf(ctx); o != nil; o = o.outer {
			o.changed.Store(true)
		}
	}
	return err
}

// promises removes from a message the parts that claim that nothing has changed.
var promises = strings.NewReplacer(
	unchanged, "", "; nothing was removed", "", "; nothing was stored", "", ", and nothing was stored", "",
)

// Outcome is like Error for the error that ended an operation. If a commit may have happened,
// Outcome returns outcome_unknown with the reason. done describes how far the operation came.
func (o *Operation) Outcome(err error, done string) error {
	if err == nil || o == nil || !o.changed.Load() {
		return Error(err)
	}
	known, _ := errors.AsType[*errs.Error](Error(err))
	return &errs.Error{Kind: errs.Internal, Code: errs.CodeOutcomeUnknown, Err: err,
		Message: "the operation ended early, and only a part of it is known to be complete (" + done + "): " + promises.Replace(known.Message) +
			"; check the current state before you repeat it"}
}

// Interrupted is like Outcome for an operation whose own refusals describe what it has done. Only
// errors that would claim that nothing was done become outcome_unknown.
func (o *Operation) Interrupted(err error, done string) error {
	known, is := errors.AsType[*errs.Error](Error(err))
	if is && (known.Kind == errs.Locked || known.Kind == errs.Unavailable || known.Code == errs.CodeNoSpace) {
		return o.Outcome(err, done)
	}
	return Error(err)
}
