package rows

import (
	"errors"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// SaveWebhook stores a new (before is nil) or changed webhook and sets after.Entry. It is for
// changes to settings and for pauses.
func SaveWebhook(tx *metadata.Tx, c Change, before, after *metadata.Webhook) (err error) {
	old := before
	if before == nil {
		old = &metadata.Webhook{}
	}
	e, stamp := about(audit.Webhook, old.Record, after.Record, old.Entry)
	e.Dataspace = after.DataspaceID
	c.Values.Change("events", old.Events, after.Events)
	if before != nil {
		c.Values.Change("madeWith", idText(old.MadeWith), idText(after.MadeWith))
	}
	c.Values.Change("paused", old.PauseReason.String(), after.PauseReason.String())
	texts := textChanges([][3]string{{"url", old.URL, after.URL}, {"label", old.Label, after.Label}})
	if after.Entry, err = c.Log(tx, stamp, e, texts); err != nil {
		return err
	}
	return tx.Webhooks.Put(*after)
}

// MayManage reports whether a user may have a webhook for a dataspace or, if dataspace is zero, for
// the whole service.
func MayManage(tx *metadata.Tx, user, dataspace metadata.ID) (bool, error) {
	u, err := tx.Users.Get(user)
	if err != nil || u.State != metadata.Active {
		return false, errs.Ignore(err, metadata.ErrNotFound)
	}
	if u.Sysadmin || dataspace == (metadata.ID{}) {
		return u.Sysadmin, nil
	}
	privilege, err := tx.Privileges.Of(user, dataspace)
	return err == nil && privilege.State == metadata.Active && privilege.Role.Allows(auth.Manage), errs.Ignore(err, metadata.ErrNotFound)
}

// RemoveWebhook removes a webhook with its deliveries.
func RemoveWebhook(tx *metadata.Tx, c Change, w metadata.Webhook) error {
	kept, err := Collect(tx.Deliveries.Before(metadata.DeliveryKey{Webhook: w.ID, Number: w.Deliveries + 1}), metadata.MaxDeliveries+1)
	if err != nil {
		return err
	}
	e := audit.Entry{Object: audit.Object{Kind: audit.Webhook, ID: w.ID}, Previous: w.Entry, Dataspace: w.DataspaceID}
	if _, err := c.Log(tx, 0, e, audit.Changes{}); err != nil {
		return err
	}
	for _, d := range kept {
		err = errors.Join(err, tx.Deliveries.Remove(d.Key()))
	}
	return errors.Join(err, tx.Webhooks.Remove(w.ID))
}
