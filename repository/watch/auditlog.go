// Package watch offers the use cases that follow and find changes: the audit log, events, webhooks
// and the search. It builds on package core.
package watch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
)

// AuditLog is the audit log of a repository. It is safe for concurrent use.
type AuditLog struct{ core *core.Core }

// NewAuditLog returns the audit log of a repository.
func NewAuditLog(core *core.Core) *AuditLog { return &AuditLog{core: core} }

// List lists entries of the audit log. Sysadmins see all entries. Admins see the entries about
// their dataspaces and their contents. Other callers see no entries. A page that has to skip many
// entries takes long: only the filters for an object and for a time window avoid reading the other
// entries.
func (s *AuditLog) List(ctx context.Context, p auth.Principal, req core.ListRequest) (core.Page[core.AuditEntry], error) {
	return core.List(ctx, s.core, p, paging.AuditEntries, req, core.Lister[core.AuditEntry]{
		Items: func(tx *metadata.Tx, p auth.Principal, q paging.Query) (iter.Seq2[core.AuditEntry, error], error) {
			if q.Action != "" && !audit.Known(q.Action) {
				return nil, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: "action",
					Message: "action must be the name of an action, such as resource.create, or all actions on a kind of object, such as resource.*"}
			}
			managed, err := managedDataspaces(tx, p)
			if err != nil {
				return nil, err
			}
			if !p.Sysadmin && managed == nil {
				return nothing, nil
			}
			numbers, err := auditNumbers(tx, q)
			return core.Filter(entries(ctx, tx, numbers), func(e core.AuditEntry) bool {
				matches := matchesAudit(e, q)
				if p.Sysadmin || !matches {
					return matches
				}
				in, _ := rows.ContainersOf(tx, e.Entry) // only sysadmins see entries about an unreadable object
				return slices.Contains(managed, in.Dataspace)
			}), err
		},
		Position: auditPosition,
		Bytes:    func(e core.AuditEntry) int { return len(e.Values) + len(e.TextsNow) },
	})
}

// History lists the entries about a dataspace, a set or a resource, newest first. Every caller who
// may read the object sees who did what. Only List shows keys and addresses. In a public
// dataspace, only callers with a role see changes of roles.
func (s *AuditLog) History(ctx context.Context, p auth.Principal, listing paging.Listing, req core.ListRequest) (core.Page[core.AuditEntry], error) {
	return core.List(ctx, s.core, p, listing, req, core.Lister[core.AuditEntry]{
		Items: func(tx *metadata.Tx, p auth.Principal, q paging.Query) (iter.Seq2[core.AuditEntry, error], error) {
			q.Object = q.Parent
			knows := true // whether the caller may see changes of roles
			if p.Limits.Narrow() {
				knows = false
			} else if listing == paging.DataspaceHistory && !p.Sysadmin {
				role, err := core.RoleIn(tx, p.UserID, q.Parent)
				if err != nil {
					return nil, err
				}
				knows = role != auth.None
			}
			numbers, err := auditNumbers(tx, q)
			return core.Filter(withoutOrigin(entries(ctx, tx, numbers)), func(e core.AuditEntry) bool {
				return knows || e.Action != audit.PrivilegeGrant && e.Action != audit.PrivilegeRevoke
			}), err
		},
		Position: auditPosition,
		Bytes:    func(e core.AuditEntry) int { return len(e.Values) + len(e.TextsNow) },
	})
}

func withoutOrigin(all iter.Seq2[core.AuditEntry, error]) iter.Seq2[core.AuditEntry, error] {
	return func(yield func(core.AuditEntry, error) bool) {
		for e, err := range all {
			e.Key, e.Session, e.Request, e.AddressNow = metadata.ID{}, [8]byte{}, [16]byte{}, ""
			if !yield(e, err) {
				return
			}
		}
	}
}

func nothing(func(core.AuditEntry, error) bool) {}

// auditPosition uses the number plus one, because the position of the first entry must not be zero.
func auditPosition(e core.AuditEntry) paging.Position {
	return paging.Position{Stamp: int64(e.Number) + 1}
}

// managedDataspaces returns the dataspaces whose entries the caller may see. For a sysadmin, who
// may see all entries, it returns nil.
func managedDataspaces(tx *metadata.Tx, p auth.Principal) (ids []metadata.ID, err error) {
	if p.Sysadmin {
		return nil, nil
	}
	for own, err := range tx.Privileges.OfUser(p.UserID, metadata.ID{}) {
		if err != nil {
			return nil, err
		}
		if own.State == metadata.Active && own.Role.Allows(auth.Manage) {
			ids = append(ids, own.DataspaceID)
		}
	}
	return ids, nil
}

// matchesAudit reports whether an entry passes the filters of a query.
func matchesAudit(e core.AuditEntry, q paging.Query) bool {
	group, all := strings.CutSuffix(q.Action, ".*")
	return (q.User == metadata.ID{} || e.User == q.User) && (q.Object == metadata.ID{} || e.Object.ID == q.Object) &&
		(q.Action == "" || e.Action.String() == q.Action || all && strings.HasPrefix(e.Action.String(), group+"."))
}

// auditNumbers yields the numbers of the entries that a query has to read, in its order. They are
// the chain of an object that records its last entry, or otherwise all entries in the time window.
func auditNumbers(tx *metadata.Tx, q paging.Query) (iter.Seq2[uint64, error], error) {
	from, to, err := auditWindow(tx, q)
	if err != nil {
		return nil, err
	}
	if last, chained := lastEntry(tx, q.Object); chained {
		return chain(tx, last, from, to, q.Order == paging.Oldest), nil
	}
	return func(yield func(uint64, error) bool) {
		for n := from; n < to; n++ {
			number := n
			if q.Order == paging.Newest {
				number = to - 1 - (n - from)
			}
			if !yield(number, nil) {
				return
			}
		}
	}, nil
}

// auditWindow returns the range of entries, excluding to, within the times of a query and after its
// position. Times ascend unless the clock was set back.
func auditWindow(tx *metadata.Tx, q paging.Query) (from, to uint64, err error) {
	state, err := tx.Audit.State()
	if err != nil {
		return 0, 0, err
	}
	first := func(passes func(metadata.Stamp) bool) uint64 {
		return uint64(sort.Search(int(state.Size), func(n int) bool {
			e, failed := core.ReadAuditEntry(tx, uint64(n))
			err = errors.Join(err, failed)
			return passes(e.Time())
		}))
	}
	to = state.Size
	if q.Since.Set {
		from = first(func(at metadata.Stamp) bool { return at > metadata.Stamp(q.Since.At) })
	}
	if q.Until.Set {
		to = first(func(at metadata.Stamp) bool { return at >= metadata.Stamp(q.Until.At) })
	}
	switch after := uint64(q.After.Stamp); {
	case after == 0:
	case q.Order == paging.Newest:
		to = min(to, after-1)
	default:
		from = max(from, after)
	}
	return from, to, err
}

// lastEntry returns the number of the last entry about an object. chained is false if the object
// has no chain of entries.
func lastEntry(tx *metadata.Tx, id metadata.ID) (number uint64, chained bool) {
	if r, err := tx.Resources.Get(id); err == nil {
		return r.Entry, true
	}
	if set, err := tx.Sets.Get(id); err == nil {
		return set.Entry, true
	}
	if d, err := tx.Dataspaces.Get(id); err == nil {
		return d.Entry, true
	}
	if s, err := tx.Schemas.Get(id); err == nil {
		return s.Entry, true
	}
	u, err := tx.Users.Get(id)
	return u.Entry, err == nil
}

// chain yields the numbers of an object's entries within a window, in ascending or descending
// order.
func chain(tx *metadata.Tx, last, from, to uint64, ascending bool) iter.Seq2[uint64, error] {
	down := func(yield func(uint64, error) bool) {
		for number := last; number >= max(from, 1); {
			if number < to && !yield(number, nil) {
				return
			}
			row, err := tx.Audit.Get(number)
			e, unread := row.Entry()
			if err = errors.Join(err, unread); err == nil && e.Previous >= number {
				err = fmt.Errorf("%w: entry %d of the audit log does not follow entry %d", metadata.ErrRecordDamaged, number, e.Previous)
			}
			if err != nil {
				yield(number, err)
				return
			}
			number = e.Previous
		}
	}
	if !ascending {
		return down
	}
	return func(yield func(uint64, error) bool) {
		all, err := rows.Collect(down, int(last)+1)
		if err != nil {
			yield(0, err)
		}
		for _, number := range slices.Backward(all) {
			if !yield(number, nil) {
				return
			}
		}
	}
}

// entries yields the entries with the given numbers.
func entries(ctx context.Context, tx *metadata.Tx, numbers iter.Seq2[uint64, error]) iter.Seq2[core.AuditEntry, error] {
	return func(yield func(core.AuditEntry, error) bool) {
		for number, err := range numbers {
			var e core.AuditEntry
			if err = errors.Join(err, ctx.Err()); err == nil {
				e, err = core.ReadAuditEntry(tx, number)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// exportPage is how many entries of an export are read in one transaction.
const exportPage = 500

// Export returns the signed head of the whole log, and all entries in order. Only sysadmins
// may call it. The iterator reads one page at a time. It ends with an error once the caller is no
// longer a sysadmin.
func (s *AuditLog) Export(ctx context.Context, p auth.Principal) (head metadata.SignedHead, all iter.Seq2[metadata.AuditEntry, error], err error) {
	err = s.core.ViewDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := core.OnlySysadmin(p); err != nil {
			return err
		}
		state, err := tx.Audit.State()
		if err == nil {
			head, err = tx.SignHead(s.core.Stores.Meta.Secret(), state.Size)
		}
		return err
	})
	if err != nil {
		return head, nil, err
	}
	return head, func(yield func(metadata.AuditEntry, error) bool) {
		for next := uint64(0); next < head.Size; {
			page, err := s.auditPage(ctx, p, next, min(next+exportPage, head.Size))
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(metadata.AuditEntry{}, err)
				return
			}
			next += uint64(len(page))
		}
	}, nil
}

func (s *AuditLog) auditPage(ctx context.Context, p auth.Principal, from, to uint64) (page []metadata.AuditEntry, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := core.OnlySysadmin(p); err != nil {
			return err
		}
		for number := from; number < to; number++ {
			e, err := tx.Audit.Get(number)
			if err != nil {
				return err
			}
			page = append(page, e)
		}
		return nil
	})
	return page, err
}

// Erase erases the texts and the address of an entry. The tree still verifies. Only sysadmins
// may call it. Erasing twice is not an error.
func (s *AuditLog) Erase(ctx context.Context, p auth.Principal, number string) error {
	return s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := core.OnlySysadmin(p); err != nil {
			return err
		}
		state, err := tx.Audit.State()
		if err != nil {
			return err
		}
		n, err := core.NumberWithin("number", number, 0, state.Size-1)
		if err != nil {
			return &errs.Error{Kind: errs.NotFound, Code: errs.CodeAuditEntryNotFound, Message: "the audit log has no entry with this number"}
		}
		e, err := tx.Audit.Get(n)
		if err != nil || e.Texts == (audit.Sealed{}) && e.Address == (audit.Sealed{}) {
			return err
		}
		e.Texts, e.Address = audit.Sealed{}, audit.Sealed{}
		change := rows.Change{By: p, Action: audit.Erase}
		change.Values.Change("entry", "", number)
		_, err = change.Log(tx, 0, audit.Entry{}, audit.Changes{})
		return errors.Join(err, tx.Audit.Replace(e))
	})
}
