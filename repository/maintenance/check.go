package maintenance

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// CheckOptions limit a check.
type CheckOptions struct {
	NoData bool   // check only existence, length and recorded damage of blobs
	Subset Subset // verify only these blobs
}

// Subset is the Nth of T parts of all blobs, divided by digest. The zero Subset contains all blobs.
type Subset struct{ N, T int }

// ParseSubset parses "n/t" with 1 <= n <= t.
func ParseSubset(text string) (Subset, error) {
	n, t, _ := strings.Cut(text, "/")
	var s Subset
	var errN, errT error
	s.N, errN = strconv.Atoi(n)
	s.T, errT = strconv.Atoi(t)
	if errN != nil || errT != nil || s.N < 1 || s.N > s.T || s.String() != text {
		return Subset{}, errors.New("want n/t, the nth of t parts, such as 2/10")
	}
	return s, nil
}

// String returns the form that ParseSubset parses.
func (s Subset) String() string { return fmt.Sprintf("%d/%d", s.N, s.T) }

// Holds reports whether a blob is in the subset.
func (s Subset) Holds(d blobs.Digest) bool {
	return s.T == 0 || binary.BigEndian.Uint64(d[:])%uint64(s.T) == uint64(s.N-1)
}

// CheckEvents are called during a check, from one goroutine. Either may be nil.
type CheckEvents struct {
	Violation func(metadata.Violation)
	Progress  func(done, total int64) // bytes of blobs verified and to verify, after each blob
}

// CheckResult counts what was checked, and the violations.
type CheckResult struct {
	Stamp            metadata.Stamp // of the latest change in the records
	Resources, Blobs int64          // blobs: files, and inline bodies
	Bytes            int64          // of these blobs
	Violations       int64

	Unreferenced, UnreferencedBytes int64 // also outside the subset; not violations
}

// Check compares all data: the rows of the metadata store with its indexes, the records with the
// rules of the repository, the blobs with the records, and the other files among the blobs. It
// repairs nothing. On the stores of a running Service, it records which blobs it finds damaged or
// intact again. It reports a damaged blob once for each resource that refers to it. Unreferenced
// blobs are not violations. An error reports why the check could not continue; the result then
// covers the part before it.
func (u *Upkeep) Check(ctx context.Context, o CheckOptions, events CheckEvents) (CheckResult, error) {
	c := &check{Upkeep: u, options: o, events: events}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{
		{metadata.PartRows, func(ctx context.Context) error { return u.stores.Meta.Inspect(ctx, c.report) }},
		{metadata.PartRules, c.checkRules},
		{metadata.PartHistory, c.checkHistory},
		{metadata.PartFiles, c.checkFiles},
		{metadata.PartFiles, c.countUnreferenced},
		{metadata.PartBlobs, c.measure},
		{metadata.PartBlobs, c.checkBlobs},
	} {
		err := part.run(ctx)
		if errors.Is(err, metadata.ErrRecordDamaged) { // a violation; the other parts still run
			c.report(metadata.Violation{Part: part.name, Kind: "metadata", Wrong: fmt.Sprintf("this part of the check stopped: %v", err)})
			continue
		}
		if err != nil {
			return c.result, u.stores.BlobError(err)
		}
	}
	return c.result, nil
}

// check is one run of Check.
type check struct {
	*Upkeep
	options CheckOptions
	events  CheckEvents
	result  CheckResult
	total   int64 // bytes to verify
}

func (c *check) report(v metadata.Violation) {
	c.result.Violations++
	if c.events.Violation != nil {
		c.events.Violation(v)
	}
}

// checkFiles reports files among the blobs that are not blobs, if the blob store supports it.
func (c *check) checkFiles(ctx context.Context) error {
	files, ok := c.stores.Blobs.(blobs.Inspector)
	if !ok {
		return nil
	}
	err := files.Unexpected(ctx, func(path, why string) error {
		c.report(metadata.Violation{Part: metadata.PartFiles, Kind: "file", Name: within(path), Wrong: why})
		return nil
	})
	var folder *fs.PathError
	if !errors.As(err, &folder) || errors.Is(err, blobs.ErrUnavailable) {
		return err
	}
	c.report(metadata.Violation{Part: metadata.PartFiles, Kind: "folder", Name: within(folder.Path), // checkBlobs reports the blobs missing from it
		Wrong: fmt.Sprintf("it cannot be read, so the check for unexpected files stopped: %v", folder.Err)})
	return nil
}

// within returns a path relative to the data directory, whose location only its owner may know.
func within(path string) string {
	path = filepath.ToSlash(path)
	return path[strings.LastIndex(path+"/", "/blobs/")+1:]
}

// eachBlob calls fn for every blob of the subset, outside transactions.
func (c *check) eachBlob(ctx context.Context, fn func(blobs.Blob) error) error {
	const size = 500
	for after := (blobs.Digest{}); ; {
		var page []blobs.Blob
		err := c.stores.Meta.View(ctx, func(tx *metadata.Tx) (err error) {
			page, err = rows.Collect(tx.Blobs.All(after), size)
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].Digest
		for _, b := range page {
			if !c.options.Subset.Holds(b.Digest) {
				continue
			}
			if err := fn(b); err != nil {
				return err
			}
		}
		if len(page) < size {
			return nil
		}
	}
}

// measure adds up the bytes to verify, including those verified so far.
func (c *check) measure(ctx context.Context) error {
	c.total = c.result.Bytes
	return c.eachBlob(ctx, func(b blobs.Blob) error {
		c.total += b.Size
		return nil
	})
}

func (c *check) checkBlobs(ctx context.Context) error {
	return c.eachBlob(ctx, func(b blobs.Blob) error {
		wrong, err := c.checkBlob(ctx, b)
		if err != nil {
			return err
		}
		if wrong != "" {
			if err := c.reportBlob(ctx, b, wrong); err != nil {
				return err
			}
		}
		c.result.Blobs++
		c.result.Bytes += b.Size
		if c.events.Progress != nil {
			c.events.Progress(c.result.Bytes, max(c.total, c.result.Bytes))
		}
		return nil
	})
}

// checkBlob returns what is wrong with a blob, "" if nothing is.
func (c *check) checkBlob(ctx context.Context, b blobs.Blob) (wrong string, err error) {
	if !c.options.NoData {
		wrong, err = c.verify(ctx, b)
		if wrong != "" && ctx.Err() == nil {
			err = nil // failing to record the damage does not matter here
		}
		return wrong, err
	}
	if _, wrong, err = c.row(ctx, b.Digest); wrong != "" || err != nil {
		return wrong, errs.Ignore(err, metadata.ErrNotFound)
	}
	size, err := c.stores.Blobs.Stat(ctx, b)
	if err == nil && size != b.Size {
		return fmt.Sprintf("its file has %d bytes, not %d", size, b.Size), nil
	}
	return storage.Verdict(b.Digest, err)
}

// reportBlob reports a blob once for each resource that needs it, if it still has a row.
func (c *check) reportBlob(ctx context.Context, b blobs.Blob, wrong string) error {
	var found []metadata.Violation
	err := c.stores.Meta.View(ctx, func(tx *metadata.Tx) error {
		found = nil
		if _, err := tx.Blobs.Get(b.Digest); err != nil {
			return errs.Ignore(err, metadata.ErrNotFound) // purged in the meantime
		}
		for of, err := range tx.Blobs.Refs(b.Digest) {
			if err != nil {
				return err
			}
			v, err := brokenFile(tx, of, b.Digest, wrong)
			if errors.Is(err, metadata.ErrNotFound) {
				continue // the metadata store reports the reference
			}
			if err != nil {
				return err
			}
			found = append(found, v)
		}
		if len(found) == 0 {
			found = []metadata.Violation{{Part: metadata.PartBlobs, Kind: "blob", ID: b.Digest.String(), Wrong: wrong + " (no resource needs it)"}}
		}
		return nil
	})
	for _, v := range found {
		c.report(v)
	}
	return err
}

// brokenFile returns the violation for the file of a version. The version may be present or former.
func brokenFile(tx *metadata.Tx, of metadata.VersionKey, digest blobs.Digest, wrong string) (metadata.Violation, error) {
	found := metadata.Violation{Part: metadata.PartBlobs, Kind: "version", ID: of.Resource.String(),
		Wrong: fmt.Sprintf("the file of version %d, sha256 %s: %s", uint64(of.Version)+1, digest, wrong)}
	r, err := tx.Resources.Get(of.Resource)
	if err == nil && r.Version == of.Version {
		found.Kind, found.Name = "resource", r.Name
		found.Wrong = fmt.Sprintf("its file, sha256 %s: %s (the resource is %s)", digest, wrong, r.State)
		return found, nil
	}
	v, err := tx.Versions.Get(of)
	found.Name = v.Name
	return found, err
}

// checkFolders verifies that each folder is in a set and has a path that ends in a slash. It also
// verifies that file properties belong to a resource.
func (c *checker) checkFolders() error {
	for row, err := range c.tx.Folders.All(metadata.FolderKey{}) {
		if err != nil {
			return err
		}
		_, known := c.sets[row.SetID]
		c.wrong(!known, "folder", metadata.Record{ID: row.SetID}, row.Path, "its set does not exist")
		c.wrong(row.Path != "" && !strings.HasSuffix(row.Path, "/"), "folder", metadata.Record{ID: row.SetID}, row.Path, "its path has no slash at the end")
	}
	for row, err := range c.tx.FileProperties.All(metadata.ID{}) {
		if err == nil {
			_, err = c.tx.Resources.Get(row.ResourceID)
		}
		if err != nil && !errors.Is(err, metadata.ErrNotFound) {
			return err
		}
		c.wrong(err != nil, "properties", metadata.Record{ID: row.ResourceID}, "", "their resource does not exist")
	}
	return nil
}
