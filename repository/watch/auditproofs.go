package watch

import (
	"context"

	"labshelf/auth"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/core"
)

// AuditTree selects the tree of the first entries of the log.
type AuditTree struct {
	Size *uint64 // number of entries; nil: all
	core.Input
}

// AuditClaim selects what a proof shows: that the tree contains an entry, or that it continues an
// earlier tree.
type AuditClaim struct {
	Entry *uint64 // nil: the last entry
	From  *uint64 // size of the earlier tree; excludes Entry
	AuditTree
}

// entries returns the number of entries of the tree.
func (t AuditTree) entries(tx *metadata.Tx) (uint64, error) {
	state, err := tx.Audit.State()
	if err != nil {
		return 0, err
	}
	if t.Size != nil && *t.Size > state.Size {
		return 0, core.NotWithin("size", 0, state.Size)
	}
	core.Set(&state.Size, t.Size)
	return state.Size, t.Malformed
}

// Head returns the signed head of a tree of the audit log. Every registered user may call it,
// because a head proves something only if other people keep copies. It covers only entries on
// stable storage.
func (s *AuditLog) Head(ctx context.Context, p auth.Principal, of AuditTree) (head metadata.SignedHead, err error) {
	err = s.core.ViewDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := core.Reads(p); err != nil {
			return err
		}
		entries, err := of.entries(tx)
		if err == nil {
			head, err = tx.SignHead(s.core.Stores.Meta.Secret(), entries)
		}
		return err
	})
	return head, err
}

// Proof returns a proof of RFC 6962.
func (s *AuditLog) Proof(ctx context.Context, p auth.Principal, of AuditClaim) (proof []audit.Hash, err error) {
	if of.Entry != nil && of.From != nil {
		return nil, core.Invalid("entry", "entry and from cannot be combined")
	}
	err = s.core.ViewDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := core.Reads(p); err != nil {
			return err
		}
		total, err := of.entries(tx)
		if err != nil {
			return err
		}
		tree := metadata.AuditTree{Log: tx.Audit}
		if of.From != nil {
			if *of.From < 1 || *of.From > total {
				return core.NotWithin("from", 1, total)
			}
			proof, err = audit.ProveGrowth(tree, *of.From, total)
			return err
		}
		if total == 0 {
			return core.Invalid("size", "size must be at least 1")
		}
		number := total - 1
		if of.Entry != nil && *of.Entry > number {
			return core.NotWithin("entry", 0, number)
		}
		core.Set(&number, of.Entry)
		proof, err = audit.ProveEntry(tree, total, number)
		return err
	})
	return proof, err
}
