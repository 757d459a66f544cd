package maintenance

import (
	"errors"

	"labshelf/auth"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// checkLinks verifies that each link has an owner, its last entry in the audit log, and a set in
// its dataspace. An invitation must have no set, and a dataspace only if it grants a role. The
// usage of links must belong to a link.
func (c *checker) checkLinks() error {
	for l, err := range c.tx.Links.Range(metadata.LinkRange{}) {
		if err == nil {
			err = c.ended()
		}
		if err != nil {
			return err
		}
		c.checkRecord("link", l.Record, l.Label)
		if err := c.log.checkObject(audit.Link, l.Record, l.Label, l.Entry); err != nil {
			return err
		}
		set, known := c.sets[l.SetID]
		if l.Kind == metadata.Invitation {
			_, there := c.spaces[l.DataspaceID]
			c.wrong(l.SetID != metadata.ID{} || there != (l.Role != auth.None), "link", l.Record, l.Label, "the dataspace of the invitation is missing")
		} else {
			c.wrong(!known || set.DataspaceID != l.DataspaceID, "link", l.Record, l.Label, "its set is not in its dataspace")
		}
		_, known = c.users[l.OwnerID]
		c.wrong(!known, "link", l.Record, l.Label, "its owner does not exist")
		c.wrong(len(l.Files)%len(metadata.ID{}) != 0, "link", l.Record, l.Label, "its files cannot be read")
	}
	for use, err := range c.tx.LinkUses.All(metadata.ID{}) {
		if err == nil {
			_, err = c.tx.Links.Get(use.LinkID)
		}
		if err != nil && !errors.Is(err, metadata.ErrNotFound) {
			return err
		}
		c.wrong(err != nil, "link", metadata.Record{ID: use.LinkID}, "", "it does not exist, but its uses do")
	}
	return nil
}
