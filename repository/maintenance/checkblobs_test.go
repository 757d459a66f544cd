package maintenance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/maintenance"
)

// TestCheckNamesDamagedResources: a check reports every resource of a damaged blob by id and name,
// also deleted resources, online and offline.
func TestCheckNamesDamagedResources(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 8)
	files := k.Resources
	twin := k.Upload(k.Sets[0], "file 0 1")
	k.Flip(files[1].Digest)
	k.OK(os.Remove(k.Path(files[2].Digest)))
	k.Delete(files[2])
	k.OK(os.Truncate(k.Path(files[3].Digest), 1))
	last := k.ReplaceUnkept(files[4], "replaced")
	k.Flip(files[4].Digest) // no resource needs it
	k.Leave(orphan, []byte("no row"))
	k.OK(os.WriteFile(k.Dir+"/blobs/notes.txt", nil, 0o600))
	want := []string{
		"blobs resource " + files[1].ID.String() + " file 0 1",
		"blobs resource " + twin.ID.String() + " file 0 1",
		"blobs resource " + files[2].ID.String() + " file 0 2",
		"blobs resource " + files[3].ID.String() + " file 0 3",
		"blobs blob " + files[4].Digest.String() + " ",
		"files file  blobs/notes.txt",
	}
	readOnly, err := directory.OpenReadOnly(k.Dir)
	k.OK(err)
	offline := maintenance.NewUpkeep(k.Meta, readOnly)
	for round, c := range []struct {
		upkeep *maintenance.Upkeep
		o      maintenance.CheckOptions
		want   []string
		marks  int
	}{
		{offline, maintenance.CheckOptions{NoData: true}, []string{want[2], want[3], want[5]}, 0},
		{offline, maintenance.CheckOptions{}, want, 0},
		{k.Upkeep, maintenance.CheckOptions{}, want, 4},
		{offline, maintenance.CheckOptions{NoData: true}, want, 4}, // all damages are recorded by now
	} {
		found, result := k.Check(c.upkeep, c.o)
		got := map[string]bool{}
		for _, v := range found {
			got[fmt.Sprintf("%s %s %s %s", v.Part, v.Kind, v.ID, v.Name)] = true
			if strings.Contains(v.String(), k.Dir) {
				t.Errorf("reveals the location of the data: %v", v)
			}
			if v.ID == files[2].ID.String() && !strings.Contains(v.Wrong, "deleted") {
				t.Errorf("opening a deleted resource: %v", v)
			}
		}
		for _, line := range c.want {
			if !got[line] {
				t.Errorf("round %d: did not find %s", round, line)
			}
		}
		if len(found) != len(c.want) || result.Violations != int64(len(c.want)) {
			t.Errorf("round %d: found %v, %d counted", round, found, result.Violations)
		}
		if result.Resources != 9 || result.Blobs != 9 || result.Bytes != 8*9 || result.Stamp != last {
			t.Errorf("round %d: looked at %+v", round, result)
		}
		if got := len(k.Damages()); got != c.marks {
			t.Errorf("round %d: %d records, want %d", round, got, c.marks)
		}
	}
}

// TestCheckInParts: the parts together cover all blobs, and the progress reaches the total.
func TestCheckInParts(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 40)
	for _, r := range k.Resources {
		k.Flip(r.Digest)
	}
	seen := map[string]int{}
	var all int64
	for n := 1; n <= 3; n++ {
		subset, err := maintenance.ParseSubset(fmt.Sprint(n, "/3"))
		k.OK(err)
		var done, total int64
		result, err := k.Upkeep.Check(t.Context(), maintenance.CheckOptions{Subset: subset}, maintenance.CheckEvents{
			Violation: func(v metadata.Violation) { seen[v.ID]++ },
			Progress: func(d, of int64) {
				if d <= done || of < d || total != 0 && of != total {
					t.Errorf("progress %d of %d after %d of %d", d, of, done, total)
				}
				done, total = d, of
			},
		})
		k.OK(err)
		if done != total || done != result.Bytes || result.Blobs == 0 || result.Blobs == 40 {
			t.Errorf("part %d: %d of %d bytes, result %+v", n, done, total, result)
		}
		all += result.Blobs
	}
	if all != 40 || len(seen) != 40 {
		t.Errorf("%d blobs in all parts, %d of 40 damaged ones found", all, len(seen))
	}
}

func TestParseSubset(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]maintenance.Subset{
		"1/1": {N: 1, T: 1}, "2/10": {N: 2, T: 10}, "10/10": {N: 10, T: 10},
		"": {}, "1": {}, "0/10": {}, "11/10": {}, "-1/10": {}, "1/0": {}, "01/10": {}, "1/10/2": {}, " 1/2": {}, "1/99999999999999999999": {},
	} {
		got, err := maintenance.ParseSubset(text)
		if got != want || (err == nil) != (want.T > 0) {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

// TestCheckDuringPurge: a blob purged after its row was read is not a violation.
func TestCheckDuringPurge(t *testing.T) {
	t.Parallel()
	for _, noData := range []bool{false, true} {
		k := newKept(t, repository.Config{}, 1)
		k.Delete(k.files0())
		purge := func() {
			if got, err := k.Upkeep.Purge(t.Context(), maintenance.PurgeOptions{Now: later}); err != nil || got.Blobs != 1 {
				t.Errorf("purge: %+v, %v", got, err)
			}
		}
		meta := &once{Store: k.Meta, after: purge}
		found, result := k.Check(maintenance.NewUpkeep(meta, k.Blobs), maintenance.CheckOptions{NoData: noData})
		if len(found) > 0 || result.Resources != 1 {
			t.Errorf("found %v, %+v", found, result)
		}
		if meta.after != nil {
			t.Error("no purge ran during the check")
		}
	}
}

// once is a store that calls a function after the transaction that reads all blobs for the second
// time.
type once struct {
	metadata.Store
	pages int
	after func()
}

func (o *once) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	read := false
	err := o.Store.View(ctx, func(tx *metadata.Tx) error {
		tx.Blobs = watched{tx.Blobs, &read}
		return fn(tx)
	})
	if read {
		o.pages++
	}
	if o.pages == 2 && o.after != nil { // the first one measures the total
		o.after()
		o.after = nil
	}
	return err
}

type watched struct {
	metadata.Blobs
	read *bool
}

func (w watched) All(after blobs.Digest) iter.Seq2[blobs.Blob, error] {
	*w.read = true
	return w.Blobs.All(after)
}

// TestCheckContinuesAfterDamagedRecord: a check reports an unreadable record as a violation, and
// continues.
func TestCheckContinuesAfterDamagedRecord(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 2)
	k.Flip(k.files0().Digest)
	found, _ := k.Check(maintenance.NewUpkeep(torn{k.Meta}, k.Blobs), maintenance.CheckOptions{})
	if len(found) != 2 || found[0].Part != metadata.PartRules || found[1].ID != k.files0().ID.String() {
		t.Errorf("found %v", found)
	}
}

// torn is a store in which the users cannot be listed.
type torn struct{ metadata.Store }

type tornUsers struct{ metadata.Users }

func (m torn) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	return m.Store.View(ctx, func(tx *metadata.Tx) error {
		tx.Users = tornUsers{tx.Users}
		return fn(tx)
	})
}

func (tornUsers) All(metadata.ID) iter.Seq2[metadata.User, error] {
	return func(yield func(metadata.User, error) bool) { yield(metadata.User{}, metadata.ErrRecordDamaged) }
}

// TestCheckContinuesAfterDanglingReference: a damaged blob is reported for the existing resources,
// even if its other references name none.
func TestCheckContinuesAfterDanglingReference(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 2)
	k.Flip(k.files0().Digest)
	found, result := k.Check(maintenance.NewUpkeep(dangling{k.Meta}, k.Blobs), maintenance.CheckOptions{})
	if len(found) != 1 || found[0].ID != k.files0().ID.String() || result.Blobs != 2 {
		t.Errorf("found %v in %d blobs", found, result.Blobs)
	}
}

// dangling is a store in which each blob also has a reference from a missing resource, before the
// others.
type dangling struct{ metadata.Store }

type danglingRefs struct{ metadata.Blobs }

func (m dangling) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	return m.Store.View(ctx, func(tx *metadata.Tx) error {
		tx.Blobs = danglingRefs{tx.Blobs}
		return fn(tx)
	})
}

func (d danglingRefs) Refs(digest blobs.Digest) iter.Seq2[metadata.VersionKey, error] {
	return func(yield func(metadata.VersionKey, error) bool) {
		if !yield(metadata.VersionKey{Resource: metadata.ID{1}}, nil) {
			return
		}
		d.Blobs.Refs(digest)(yield)
	}
}

// TestCheckContinuesWithoutFolder: a check reports a folder that cannot be listed, and still reads
// the files.
func TestCheckContinuesWithoutFolder(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 2)
	folder := filepath.Join(k.Dir, "blobs")
	k.OK(errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600)))
	found, result := k.Check(maintenance.NewUpkeep(k.Meta, k.Blobs), maintenance.CheckOptions{})
	if len(found) != 3 || result.Blobs != 2 || !strings.HasPrefix(found[0].String(), `files: folder "blobs": it cannot be read`) {
		t.Errorf("%q", found)
	}
	for _, v := range found {
		if strings.Contains(v.String(), k.Dir) {
			t.Errorf("%s: names a path", v)
		}
	}
}

// TestOpenBlob opens a blob at its location, a blob in the trash, and a missing blob.
func TestOpenBlob(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 2)
	d := k.files0().Digest.String()
	read := func() (string, error) {
		f, size, err := k.Upkeep.OpenBlob(t.Context(), d)
		if err != nil {
			return "", err
		}
		content, err := io.ReadAll(f)
		if int64(len(content)) != size {
			t.Errorf("read %d bytes, the size is %d", len(content), size)
		}
		return string(content), errors.Join(err, f.Close())
	}
	k.Delete(k.files0())
	for _, grace := range []time.Duration{2 * time.Hour, 0} {
		if got, err := read(); err != nil || got != "file 0 0" {
			t.Errorf("got %q, %v", got, err)
		}
		_, err := k.Upkeep.Purge(t.Context(), maintenance.PurgeOptions{Now: later, Grace: grace})
		k.OK(err)
	}
	_, err := read()
	k.Refused(err, errs.CodeBlobNotFound)
	for _, bad := range []string{"", "x", strings.ToUpper(k.Resources[1].Digest.String()), d + "0"} {
		_, _, err := k.Upkeep.OpenBlob(t.Context(), bad)
		k.Refused(err, errs.CodeBlobNotFound)
	}
}

// TestUpkeepIsForSysadmins: maintenance requires a sysadmin.
func TestUpkeepIsForSysadmins(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{TrashGrace: time.Hour}, 0)
	if k.Upkeep.TrashGrace() != time.Hour {
		t.Errorf("grace %v", k.Upkeep.TrashGrace())
	}
	user, err := k.Service.Users.Create(t.Context(), k.Admin, containers.NewUser{Username: "somebody"})
	k.OK(err)
	caller := k.Admin
	caller.UserID, caller.KeyID, caller.Sysadmin = user.ID, metadata.ID{}, true
	_, err = k.Service.Monitor.Upkeep(t.Context(), caller)
	k.Refused(err, errs.CodeForbidden)
}
