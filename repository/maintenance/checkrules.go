package maintenance

import (
	"context"
	"errors"
	"fmt"

	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/internal/rows"
)

// checkRules compares all records with the rules of the repository, in one long read transaction.
// The store itself checks its checksums and indexes.
func (c *check) checkRules(ctx context.Context) error {
	return c.stores.Meta.View(ctx, func(tx *metadata.Tx) error {
		r := &checker{
			ended: ctx.Err, tx: tx, report: c.report, result: &c.result, subset: c.options.Subset, spaces: map[metadata.ID]metadata.Dataspace{}, sets: map[metadata.ID]metadata.Set{},
			users: map[metadata.ID]metadata.State{}, cascades: map[metadata.ID]metadata.Cascade{}, counted: map[metadata.ID]metadata.Counters{}, used: map[metadata.ID]int64{},
		}
		r.log = &logChecker{checker: r}
		for _, part := range []func() error{
			r.log.checkLog, r.checkUsers, r.checkCascades, r.checkDataspaces, r.checkSets, r.checkResources, r.checkVersions, r.checkPrivileges, r.checkUsage, r.checkUserUsage,
			r.checkDamages, r.checkBodies, r.checkDescriptive, r.checkSchemas, r.checkSchemaVersions, r.checkEdits, r.checkFolders, r.checkLinks, r.log.checkOpen,
		} {
			if err := part(); err != nil {
				return err
			}
		}
		r.checkContainers()
		return nil
	})
}

// checker is one run of checkRules. It keeps containers and users in memory, but not resources.
type checker struct {
	ended    func() error
	tx       *metadata.Tx
	report   func(metadata.Violation)
	result   *CheckResult
	subset   Subset
	spaces   map[metadata.ID]metadata.Dataspace
	sets     map[metadata.ID]metadata.Set
	users    map[metadata.ID]metadata.State
	cascades map[metadata.ID]metadata.Cascade
	counted  map[metadata.ID]metadata.Counters
	used     map[metadata.ID]int64 // bytes by user
	log      *logChecker
}

func (c *checker) wrong(bad bool, kind string, r metadata.Record, name, format string, args ...any) {
	if bad {
		c.report(metadata.Violation{Part: metadata.PartRules, Kind: kind, ID: r.ID.String(), Name: name, Wrong: fmt.Sprintf(format, args...)})
	}
}

// checkRecord checks the fields that all records share.
func (c *checker) checkRecord(kind string, r metadata.Record, name string) {
	c.result.Stamp = max(c.result.Stamp, r.Modified)
	c.wrong(r.State != metadata.Active && r.State != metadata.Deleted, kind, r, name, "its state is invalid")
	c.wrong(r.Modified < r.Created, kind, r, name, "it was modified before it was created")
	c.wrong(int64(r.ID.Time()) != r.Created.Millis(), kind, r, name, "the time in its id differs from the time of its creation")
	c.wrong(r.State == metadata.Active && r.TakenBy != 0, kind, r, name, "it is active, but refers to a deletion")
}

func (c *checker) checkUsers() error {
	sysadmins := 0
	for u, err := range c.tx.Users.All(metadata.ID{}) {
		if err != nil {
			return err
		}
		c.users[u.ID] = u.State
		c.checkRecord("user", u.Record, u.Username)
		if err := c.log.checkObject(audit.User, u.Record, u.Username, u.Entry); err != nil {
			return err
		}
		if u.Sysadmin && u.State == metadata.Active {
			sysadmins++
		}
		for k, err := range c.tx.Keys.OfUser(u.ID, metadata.ID{}) {
			if err != nil {
				return err
			}
			c.result.Stamp = max(c.result.Stamp, k.Created, k.Gone)
			c.wrong(u.State == metadata.Deleted && k.Gone == 0, "key", metadata.Record{ID: k.ID}, k.Label, "its user is deleted, but it is not revoked")
		}
	}
	c.wrong(len(c.users) > 0 && sysadmins == 0, "user", metadata.Record{}, "", "there is no active sysadmin")
	return nil
}

func (c *checker) checkCascades() error {
	for cascade, err := range c.tx.Cascades.All(metadata.ID{}) {
		if err != nil {
			return err
		}
		c.cascades[cascade.Container] = cascade
	}
	return nil
}

func (c *checker) checkDataspaces() error {
	for d, err := range c.tx.Dataspaces.All(metadata.ID{}) {
		if err != nil {
			return err
		}
		c.spaces[d.ID] = d
		c.checkRecord("dataspace", d.Record, d.Name)
		if err := c.log.checkObject(audit.Dataspace, d.Record, d.Name, d.Entry); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkSets() error {
	for set, err := range c.tx.Sets.Range(metadata.SetRange{States: paging.All}) {
		if err != nil {
			return err
		}
		c.sets[set.ID] = set
		c.checkRecord("set", set.Record, set.Name)
		if err := c.log.checkObject(audit.Set, set.Record, set.Name, set.Entry); err != nil {
			return err
		}
		d, ok := c.spaces[set.DataspaceID]
		c.wrong(!ok, "set", set.Record, set.Name, "its dataspace %s does not exist", set.DataspaceID)
		_, underWay := c.cascades[d.ID]
		c.wrong(ok && d.State == metadata.Deleted && set.State == metadata.Active && !underWay, "set", set.Record, set.Name, "it is active in a deleted dataspace")
	}
	return nil
}

func (c *checker) checkResources() error {
	var before metadata.Stamp
	for r, err := range c.tx.Resources.Range(metadata.ResourceRange{States: paging.All, Order: paging.Oldest}) {
		if err == nil {
			err = c.ended()
		}
		if err != nil {
			return err
		}
		c.result.Resources++
		c.checkRecord("resource", r.Record, r.Name)
		c.wrong(r.Modified <= before, "resource", r.Record, r.Name, "its stamp %d is not greater than the stamp of another resource", r.Modified)
		before = r.Modified
		c.count(r, rows.Counted(r))
		c.checkContainersOf(r)
		c.wrong(r.MovedTo != metadata.ID{} && r.State != metadata.Deleted, "resource", r.Record, r.Name, "it is active, but refers to the resource that it was moved to")
		if err := errors.Join(c.log.checkObject(audit.Resource, r.Record, r.Name, r.Entry), c.log.checkFile(r)); err != nil {
			return err
		}
		switch r.Body {
		case metadata.Purged:
			c.wrong(r.State != metadata.Deleted, "resource", r.Record, r.Name, "it is purged, but not deleted")
		case metadata.Inline:
			err = c.checkInline("resource", r)
		case metadata.InBlob:
			err = c.checkBlobOf("resource", r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkBlobOf(kind string, r metadata.Resource) error {
	blob, err := c.tx.Blobs.Get(r.Digest)
	if err != nil && !errors.Is(err, metadata.ErrNotFound) {
		return err
	}
	c.wrong(err != nil, kind, r.Record, r.Name, "its blob %s is not recorded", r.Digest)
	c.wrong(err == nil && blob.Size != r.Bytes, kind, r.Record, r.Name, "it has %d bytes, its blob %d", r.Bytes, blob.Size)
	return nil
}

// checkInline verifies the inline body of a resource, and counts it as a verified blob.
func (c *checker) checkInline(kind string, r metadata.Resource) error {
	if !c.subset.Holds(r.Digest) {
		return nil
	}
	c.result.Blobs++
	c.result.Bytes += r.Bytes
	_, err := rows.VerifyInline(c.tx, r)
	if errors.Is(err, metadata.ErrRecordDamaged) {
		c.report(metadata.Violation{Part: metadata.PartRules, Kind: kind, ID: r.ID.String(), Name: r.Name,
			Wrong: fmt.Sprintf("its file, sha256 %s, which is in the metadata: %v (the resource is %s)", r.Digest, err, r.State)})
		return nil
	}
	return err
}

// checkBodies verifies that each inline body belongs to a version of a resource.
func (c *checker) checkBodies() error {
	for of, err := range c.tx.InlineBodies.All(metadata.VersionKey{}) {
		if err != nil {
			return err
		}
		r, err := rows.InVersion(c.tx, of)
		if err != nil && !errors.Is(err, metadata.ErrNotFound) {
			return err
		}
		if err != nil || !r.Needs(of) {
			c.report(metadata.Violation{Part: metadata.PartRules, Kind: "body", ID: of.Resource.String(),
				Wrong: fmt.Sprintf("the body of version %d is in the metadata, and no resource needs it", of.Version)})
		}
	}
	return nil
}

// checkVersions compares the versions with their resources. The versions of a resource are numbered
// without gaps, up to the one before the present version. The first number is not 0 if the resource
// was replaced before versions were kept.
func (c *checker) checkVersions() error {
	var r metadata.Resource
	next := uint32(0) // number of the version that must follow in r
	end := func() {
		c.wrong(next != r.Version, "resource", r.Record, r.Name, "its version %d is missing", uint64(next)+1)
	}
	for v, err := range c.tx.Versions.All(metadata.VersionKey{}) {
		if err == nil {
			err = c.ended()
		}
		if err != nil {
			return err
		}
		if v.ResourceID != r.ID {
			end()
			if r, err = c.tx.Resources.Get(v.ResourceID); err != nil && !errors.Is(err, metadata.ErrNotFound) {
				return err
			}
			r.ID, next = v.ResourceID, v.Number
			c.wrong(err != nil, "version", r.Record, v.Name, "its resource does not exist")
		}
		c.wrong(next != v.Number, "resource", r.Record, r.Name, "its version %d is missing", uint64(next)+1)
		next = v.Number + 1
		if err := c.checkVersion(r, v); err != nil {
			return err
		}
	}
	end()
	return nil
}

func (c *checker) checkVersion(r metadata.Resource, v metadata.Version) error {
	was := v.Of(r)
	was.Name = fmt.Sprintf("%s, version %d", v.Name, uint64(v.Number)+1)
	c.result.Stamp = max(c.result.Stamp, v.Replaced, v.Removed.At)
	c.wrong(v.Replaced < v.Created || v.Replaced > r.Modified, "version", r.Record, was.Name, "it was replaced before it was created, or after the last change")
	c.wrong((v.Body == metadata.Purged) != (v.Removed.Rule != metadata.NotRemoved), "version", r.Record, was.Name, "its bytes were removed without a recorded rule, or exist although a rule is recorded")
	c.count(was, rows.CountedVersion(v))
	switch v.Body {
	case metadata.Inline:
		return c.checkInline("version", was)
	case metadata.InBlob:
		return c.checkBlobOf("version", was)
	}
	return nil
}

// checkContainersOf compares a resource with its set and its dataspace.
func (c *checker) checkContainersOf(r metadata.Resource) {
	set, ok := c.sets[r.SetID]
	c.wrong(!ok, "resource", r.Record, r.Name, "its set %s does not exist", r.SetID)
	c.wrong(ok && set.DataspaceID != r.DataspaceID, "resource", r.Record, r.Name, "its set is in another dataspace")
	_, inSet := c.cascades[r.SetID]
	_, inSpace := c.cascades[r.DataspaceID]
	gone := ok && set.State == metadata.Deleted || c.spaces[r.DataspaceID].State == metadata.Deleted
	c.wrong(r.State == metadata.Active && gone && !inSet && !inSpace, "resource", r.Record, r.Name, "it is active in a deleted set or dataspace")
}

func (c *checker) checkPrivileges() error {
	for p, err := range c.tx.Privileges.All(metadata.ID{}) {
		if err != nil {
			return err
		}
		c.checkRecord("privilege", p.Record, "")
		_, user := c.users[p.UserID]
		_, space := c.spaces[p.DataspaceID]
		c.wrong(!user || !space, "privilege", p.Record, "", "its user or its dataspace does not exist")
	}
	return nil
}

// count adds a resource, or a former version of it, to the expected counters.
func (c *checker) count(r metadata.Resource, counted metadata.Counters) {
	c.counted[r.DataspaceID] = c.counted[r.DataspaceID].Add(counted)
	c.used[r.Storer()] += counted.Bytes()
}

// checkUserUsage compares the usage of users with the counted bytes. It is skipped if no user has a
// row, as in metadata of an older schema that are only read.
func (c *checker) checkUserUsage() error {
	kept := map[metadata.ID]int64{}
	for u, err := range c.tx.UserUsage.All(metadata.ID{}) {
		if err != nil {
			return err
		}
		kept[u.UserID] = u.Bytes
		c.used[u.UserID] += 0
	}
	for user, bytes := range c.used {
		c.wrong(len(kept) > 0 && kept[user] != bytes, "user", metadata.Record{ID: user}, "", "its usage is %d bytes, but the versions that it stored have %d", kept[user], bytes)
	}
	return nil
}

// checkUsage compares the counters of dataspaces with the counted resources.
func (c *checker) checkUsage() error {
	for _, d := range c.spaces {
		kept, err := c.tx.Usage.Get(d.ID)
		if err != nil {
			return err
		}
		c.wrong(kept != c.counted[d.ID], "dataspace", d.Record, d.Name, "its usage is %+v, but its resources have %+v", kept, c.counted[d.ID])
		last := metadata.DayCounters{}
		for day, err := range c.tx.Usage.Days(d.ID) {
			if err != nil {
				return err
			}
			last = day
		}
		c.wrong(kept != last.Counters, "dataspace", d.Record, d.Name, "its usage is %+v, but its last day has %+v", kept, last.Counters)
	}
	return nil
}

// checkDamages verifies that each recorded damage belongs to a blob with a row.
func (c *checker) checkDamages() error {
	for d, err := range c.tx.Damages.All(blobs.Digest{}) {
		if err != nil {
			return err
		}
		_, err := c.tx.Blobs.Get(d.Digest)
		if err != nil && !errors.Is(err, metadata.ErrNotFound) {
			return err
		}
		if err != nil {
			c.report(metadata.Violation{Part: metadata.PartRules, Kind: "damage", ID: d.Digest.String(), Wrong: "a blob without a row is recorded as damaged"})
		}
	}
	return nil
}

// checkContainers verifies that each container has the state that its cascade gives to it.
func (c *checker) checkContainers() {
	for _, cascade := range c.cascades {
		state := metadata.Deleted
		if cascade.Restore {
			state = metadata.Active
		}
		container, ok := c.spaces[cascade.Container].Record, cascade.OfDataspace()
		if !ok {
			container = c.sets[cascade.Container].Record
		}
		c.wrong(container.State != state, "step", metadata.Record{ID: cascade.Container}, "", "its container is not %s", state)
	}
}
