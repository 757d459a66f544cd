package repository_test

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

	"labshelf/blobs"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/repository"
)

// TestCheckNamesWhatIsDamaged: every resource of a damaged blob by id and name, deleted ones too, online and offline.
func TestCheckNamesWhatIsDamaged(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 8)
	files := k.held.files
	twin := k.upload(k.sets[0], "file 0 1")
	k.flip(files[1].Digest)
	k.ok(os.Remove(k.path(files[2].Digest)))
	k.remove(files[2])
	k.ok(os.Truncate(k.path(files[3].Digest), 1))
	k.replace(files[4], "replaced")
	k.flip(files[4].Digest) // which no resource needs
	k.leave(orphan, []byte("no row"))
	k.ok(os.WriteFile(k.dir+"/blobs/notes.txt", nil, 0o600))
	want := []string{
		"blobs resource " + files[1].ID.String() + " file 0 1",
		"blobs resource " + twin.ID.String() + " file 0 1",
		"blobs resource " + files[2].ID.String() + " file 0 2",
		"blobs resource " + files[3].ID.String() + " file 0 3",
		"blobs blob " + files[4].Digest.String() + " ",
		"files file  blobs/notes.txt",
	}
	readOnly, err := blobs.OpenDirReadOnly(k.dir)
	k.ok(err)
	offline := repository.NewUpkeep(k.meta, readOnly)
	for round, c := range []struct {
		upkeep *repository.Upkeep
		o      repository.CheckOptions
		want   []string
		marks  int
	}{
		{offline, repository.CheckOptions{NoData: true}, []string{want[2], want[3], want[5]}, 0},
		{offline, repository.CheckOptions{}, want, 0},
		{k.upkeep, repository.CheckOptions{}, want, 4},
		{offline, repository.CheckOptions{NoData: true}, want, 4}, // all are known by now
	} {
		found, result := k.check(c.upkeep, c.o)
		got := map[string]bool{}
		for _, v := range found {
			got[fmt.Sprintf("%s %s %s %s", v.Part, v.Kind, v.ID, v.Name)] = true
			if strings.Contains(v.String(), k.dir) {
				t.Errorf("tells where the data are: %v", v)
			}
			if v.ID == files[2].ID.String() && !strings.Contains(v.Wrong, "deleted") {
				t.Errorf("of a deleted resource: %v", v)
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
		if result.Resources != 9 || result.Blobs != 9 || result.Bytes != 8*9 || result.Stamp != k.get(files[4].ID).Modified {
			t.Errorf("round %d: looked at %+v", round, result)
		}
		if got := len(k.marks()); got != c.marks {
			t.Errorf("round %d: %d marks, want %d", round, got, c.marks)
		}
	}
}

// TestCheckInParts: the parts together are the whole, and progress comes to its end.
func TestCheckInParts(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 40)
	for _, r := range k.held.files {
		k.flip(r.Digest)
	}
	seen := map[string]int{}
	var all int64
	for n := 1; n <= 3; n++ {
		subset, err := repository.ParseSubset(fmt.Sprint(n, "/3"))
		k.ok(err)
		var done, total int64
		result, err := k.upkeep.Check(t.Context(), repository.CheckOptions{Subset: subset}, repository.CheckEvents{
			Violation: func(v metadata.Violation) { seen[v.ID]++ },
			Progress: func(d, of int64) {
				if d <= done || of < d || total != 0 && of != total {
					t.Errorf("progress %d of %d after %d of %d", d, of, done, total)
				}
				done, total = d, of
			},
		})
		k.ok(err)
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
	for text, want := range map[string]repository.Subset{
		"1/1": {N: 1, T: 1}, "2/10": {N: 2, T: 10}, "10/10": {N: 10, T: 10},
		"": {}, "1": {}, "0/10": {}, "11/10": {}, "-1/10": {}, "1/0": {}, "01/10": {}, "1/10/2": {}, " 1/2": {}, "1/99999999999999999999": {},
	} {
		got, err := repository.ParseSubset(text)
		if got != want || (err == nil) != (want.T > 0) {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

// TestCheckBesideAPurge: what is purged after its row was read is no violation.
func TestCheckBesideAPurge(t *testing.T) {
	t.Parallel()
	for _, noData := range []bool{false, true} {
		k := newKept(t, repository.Config{}, 1)
		k.remove(k.files0())
		purge := func() {
			if got, err := k.upkeep.Purge(t.Context(), repository.PurgeOptions{Now: later}); err != nil || got.Blobs != 1 {
				t.Errorf("purge: %+v, %v", got, err)
			}
		}
		meta := &once{Store: k.meta, after: purge}
		found, result := k.check(repository.NewUpkeep(meta, k.files), repository.CheckOptions{NoData: noData})
		if len(found) > 0 || result.Resources != 1 {
			t.Errorf("found %v, %+v", found, result)
		}
		if meta.after != nil {
			t.Error("there was no purge in between")
		}
	}
}

// once does something after the first transaction that reads all blobs for the second time.
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
	if o.pages == 3 && o.after != nil { // measuring takes two: one page, and one to see that there is no more
		o.after()
		o.after = nil
	}
	return err
}

type watched struct {
	metadata.Blobs
	read *bool
}

func (w watched) All(after *blobs.Digest) iter.Seq2[metadata.Blob, error] {
	*w.read = true
	return w.Blobs.All(after)
}

// TestCheckGoesOnAfterADamagedRecord: what cannot be read is a finding, not the end.
func TestCheckGoesOnAfterADamagedRecord(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 2)
	k.flip(k.files0().Digest)
	found, _ := k.check(repository.NewUpkeep(torn{k.meta}, k.files), repository.CheckOptions{})
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

// TestCheckGoesOnWithoutAFolder: what cannot be listed is a finding, and the files are looked at all the same.
func TestCheckGoesOnWithoutAFolder(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 2)
	folder := filepath.Join(k.dir, "blobs")
	k.ok(errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600)))
	found, result := k.check(repository.NewUpkeep(k.meta, k.files), repository.CheckOptions{})
	if len(found) != 3 || result.Blobs != 2 || !strings.HasPrefix(found[0].String(), `files: folder "blobs": it cannot be read`) {
		t.Errorf("%q", found)
	}
	for _, v := range found {
		if strings.Contains(v.String(), k.dir) {
			t.Errorf("%s: tells a path", v)
		}
	}
}

// TestOpenBlob from its place, from the trash, and neither.
func TestOpenBlob(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 2)
	d := k.files0().Digest.String()
	read := func() (string, error) {
		f, size, err := k.upkeep.OpenBlob(t.Context(), d)
		if err != nil {
			return "", err
		}
		content, err := io.ReadAll(f)
		if int64(len(content)) != size {
			t.Errorf("%d bytes, said to be %d", len(content), size)
		}
		return string(content), errors.Join(err, f.Close())
	}
	k.remove(k.files0())
	for _, grace := range []time.Duration{2 * time.Hour, 0} {
		if got, err := read(); err != nil || got != "file 0 0" {
			t.Errorf("got %q, %v", got, err)
		}
		_, err := k.upkeep.Purge(t.Context(), repository.PurgeOptions{Now: later, Grace: grace})
		k.ok(err)
	}
	_, err := read()
	k.refused(err, errs.CodeBlobNotFound)
	for _, bad := range []string{"", "x", strings.ToUpper(k.held.files[1].Digest.String()), d + "0"} {
		_, _, err := k.upkeep.OpenBlob(t.Context(), bad)
		k.refused(err, errs.CodeBlobNotFound)
	}
}

// TestUpkeepIsForSysadmins.
func TestUpkeepIsForSysadmins(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{TrashGrace: time.Hour}, 0)
	if k.upkeep.TrashGrace() != time.Hour {
		t.Errorf("grace %v", k.upkeep.TrashGrace())
	}
	user, err := k.svc.CreateUser(t.Context(), k.admin, repository.Fields{"username": "somebody"})
	k.ok(err)
	caller := k.admin
	caller.UserID, caller.KeyID, caller.Sysadmin = user.ID, metadata.ID{}, true
	_, err = k.svc.Upkeep(t.Context(), caller)
	k.refused(err, errs.CodeForbidden)
}
