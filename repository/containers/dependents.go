package containers

import (
	"cmp"
	"context"

	"labshelf/auth"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/hooks"
	"labshelf/repository/internal/rows"
)

// Keys, links and webhooks depend on the key that they were created with. MadeWith names that key,
// which always belongs to the user on whose behalf they act. They end in the commit that revokes
// the key. The links and webhooks of an expired key are not used. A key ends no later than its
// maker, so the chain above the maker is never followed.

// dependents are the keys, links and webhooks of one user that have not ended.
type dependents struct {
	keys     []metadata.Key
	links    []metadata.Link
	webhooks []metadata.Webhook
}

// dependentsOf returns what depends on a key, directly or through another key, in order of creation
// within each kind.
func dependentsOf(tx *metadata.Tx, k metadata.Key) (dependents, error) {
	made := map[metadata.ID]bool{k.ID: true}
	held := dependents{}
	for later, err := range tx.Keys.OfUser(k.UserID, k.ID) { // no key is older than its maker
		if err != nil {
			return held, err
		}
		if !made[later.MadeWith] {
			continue
		}
		made[later.ID] = true
		if later.Gone == 0 {
			held.keys = append(held.keys, later)
		}
	}
	return held, held.collect(tx, k.UserID, func(with metadata.ID) bool { return made[with] })
}

// heldBy returns everything that acts on behalf of a user.
func heldBy(tx *metadata.Tx, user metadata.ID) (held dependents, err error) {
	for k, err := range tx.Keys.OfUser(user, metadata.ID{}) {
		if err != nil {
			return held, err
		}
		if k.Gone == 0 {
			held.keys = append(held.keys, k)
		}
	}
	return held, held.collect(tx, user, func(metadata.ID) bool { return true })
}

// collect adds the links and webhooks of a user for whose maker by returns true.
func (d *dependents) collect(tx *metadata.Tx, user metadata.ID, by func(metadata.ID) bool) error {
	for l, err := range tx.Links.Range(metadata.LinkRange{Owner: user}) {
		if err != nil {
			return err
		}
		if l.State == metadata.Active && by(l.MadeWith) {
			d.links = append(d.links, l)
		}
	}
	for w, err := range tx.Webhooks.All(metadata.ID{}) {
		if err != nil {
			return err
		}
		if w.Paused == 0 && w.ModifiedBy == user && by(w.MadeWith) {
			d.webhooks = append(d.webhooks, w)
		}
	}
	return nil
}

// end revokes the keys and links and pauses the webhooks, with a reason. Call it in the transaction
// that ends what they depend on. change.Cause is the entry of that.
func (d dependents) end(tx *metadata.Tx, change rows.Change, gone metadata.Stamp, why metadata.PauseReason) error {
	for _, k := range d.keys {
		k.Gone, change.Action = gone, audit.KeyRevoke
		if _, err := rows.SaveKey(tx, change, 0, k); err != nil {
			return err
		}
	}
	for _, before := range d.links {
		l := before
		l.State, l.Modified, l.ModifiedBy, change.Action = metadata.Deleted, tx.Stamp(), change.By.UserID, audit.LinkRevoke
		if err := rows.SaveLink(tx, change, &before, &l); err != nil {
			return err
		}
	}
	for _, before := range d.webhooks {
		w := before
		hooks.Pause(&w, gone, why)
		change.Action = audit.WebhookPause
		if err := rows.SaveWebhook(tx, change, &before, &w); err != nil {
			return err
		}
	}
	return nil
}

// release ends the dependents of a key at a time, or keeps them.
func (d dependents) release(tx *metadata.Tx, change rows.Change, k metadata.Key, gone metadata.Stamp, keep bool) error {
	if keep {
		return d.keep(tx, change, k)
	}
	return d.end(tx, change, gone, metadata.PausedWithKey)
}

// expire makes the keys expire no later than the given time; 0 changes nothing.
func (d dependents) expire(tx *metadata.Tx, change rows.Change, at metadata.Stamp) error {
	for _, before := range d.keys {
		k := before
		k.Expires = earlier(k.Expires, at)
		if err := updateKey(tx, change, before, k); err != nil {
			return err
		}
	}
	return nil
}

// updateKey stores a dependent key if it has changed.
func updateKey(tx *metadata.Tx, change rows.Change, before, after metadata.Key) error {
	if after == before {
		return nil
	}
	change.Action = audit.KeyUpdate
	_, err := rows.UpdateKey(tx, change, before, after)
	return err
}

// keep makes the direct dependents of a key depend on the maker of that key. Keys still expire no
// later than the key, and links at the same time.
func (d dependents) keep(tx *metadata.Tx, change rows.Change, revoked metadata.Key) error {
	for _, before := range d.keys {
		k := before
		if k.Expires = earlier(k.Expires, revoked.Expires); k.MadeWith == revoked.ID {
			k.MadeWith = revoked.MadeWith
		}
		if err := updateKey(tx, change, before, k); err != nil {
			return err
		}
	}
	for _, before := range d.links {
		l := before
		if l.MadeWith != revoked.ID {
			continue
		}
		l.MadeWith, l.Expires = revoked.MadeWith, earlier(l.Expires, revoked.Expires)
		l.Modified, l.ModifiedBy, change.Action = tx.Stamp(), change.By.UserID, audit.LinkUpdate
		if err := rows.SaveLink(tx, change, &before, &l); err != nil {
			return err
		}
	}
	for _, before := range d.webhooks {
		w := before
		if w.MadeWith != revoked.ID {
			continue
		}
		w.MadeWith, change.Action = revoked.MadeWith, audit.WebhookUpdate
		if err := rows.SaveWebhook(tx, change, &before, &w); err != nil {
			return err
		}
	}
	return nil
}

// Dependents lists the objects that depend on a key, for its user.
type Dependents struct {
	Sessions int
	Keys     []metadata.Key
	Links    []LinkWithUse
	Webhooks []metadata.Webhook
}

// Count returns the number of dependents.
func (d Dependents) Count() int { return d.Sessions + len(d.Keys) + len(d.Links) + len(d.Webhooks) }

// KeyDependents returns what would end if a key were revoked now. It returns nothing for a revoked
// key.
func (s *Users) KeyDependents(ctx context.Context, p auth.Principal, user, id string) (d Dependents, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		d = Dependents{}
		k, err := lookupKey(tx, p, user, id)
		if err != nil || k.Gone != 0 {
			return err
		}
		found, err := dependentsOf(tx, k)
		if err != nil {
			return err
		}
		ending := map[metadata.ID]bool{k.ID: true}
		for _, other := range found.keys {
			ending[other.ID] = true
		}
		for session, err := range tx.Sessions.OfUser(k.UserID) {
			if err != nil {
				return err
			}
			if ending[session.KeyID] && session.Expires > s.core.Now() {
				d.Sessions++
			}
		}
		d.Keys, d.Webhooks = found.keys, found.webhooks
		for _, l := range found.links {
			shown, failed := s.WithUse(tx, l)
			err = cmp.Or(err, failed)
			d.Links = append(d.Links, shown)
		}
		return err
	})
	return d, err
}
