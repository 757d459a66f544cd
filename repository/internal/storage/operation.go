package storage

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"labshelf/auth/errs"
	"labshelf/metadata"
)

// Operation records whether a request of several commits may have changed something. A request that
// may have is never answered as refused. A nil Operation has changed nothing.
type Operation struct {
	outer   *Operation
	changed atomic.Bool
}

type operationKey struct{}

// Begin returns a context for the commits of an operation, and the operation. A commit under it
// counts for the operations of ctx as well.
func Begin(ctx context.Context) (context.Context, *Operation) {
	o := &Operation{outer: operationOf(ctx)}
	return context.WithValue(ctx, operationKey{}, o), o
}

func operationOf(ctx context.Context) *Operation {
	o, _ := ctx.Value(operationKey{}).(*Operation)
	return o
}

// committed records how a commit under a context ended. It returns err.
func committed(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, metadata.ErrOutcomeUnknown) {
		for o := operationOf(ctx); o != nil; o = o.outer {
			o.changed.Store(true)
		}
	}
	return err
}

// promises are what refusals say of a request that has changed nothing.
var promises = strings.NewReplacer(
	unchanged, "", "; nothing was removed", "", "; nothing was stored", "", ", and nothing was stored", "",
)

// Outcome is Error for what ended an operation. Once a commit may have happened, it returns
// outcome_unknown, with done, which says how far the operation came, and the reason.
func (o *Operation) Outcome(err error, done string) error {
	if err == nil || o == nil || !o.changed.Load() {
		return Error(err)
	}
	known, _ := errors.AsType[*errs.Error](Error(err))
	return &errs.Error{Kind: errs.Internal, Code: errs.CodeOutcomeUnknown, Err: err,
		Message: "only a part of this was done for certain, " + done + ": " + promises.Replace(known.Message) +
			"; look at what is there before you repeat it"}
}

// Interrupted is Outcome for an operation whose refusals say what becomes of what it has done: only
// errors that would say that nothing was done become outcome_unknown.
func (o *Operation) Interrupted(err error, done string) error {
	known, is := errors.AsType[*errs.Error](Error(err))
	if is && (known.Kind == errs.Locked || known.Kind == errs.Unavailable || known.Code == errs.CodeNoSpace) {
		return o.Outcome(err, done)
	}
	return Error(err)
}
