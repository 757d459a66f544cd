package repository_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// actions returns the actions of the entries, beginning with the entry of the given number.
func actions(t *testing.T, meta metadata.Reader, from uint64) (words []string) {
	t.Helper()
	err := meta.View(t.Context(), func(tx *metadata.Tx) error {
		state, err := tx.Audit.State()
		for ; err == nil && from < state.Size; from++ {
			var row metadata.AuditEntry
			var e audit.Entry
			if row, err = tx.Audit.Get(from); err == nil {
				e, err = row.Entry()
			}
			words = append(words, e.Action.String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return words
}

// TestUseCasesAreLogged runs the use cases on a store that reports each change without an entry in
// the same commit. It compares the log with the expected actions.
func TestUseCasesAreLogged(t *testing.T) {
	t.Parallel()
	k := repositorytest.NewDisk(t, repository.Config{HoldUpTo: 10}, 2)
	ctx, svc, admin, one, two := t.Context(), k.Service, k.Admin, k.Resources[0], k.Resources[1]
	space, set := k.Space.ID.String(), k.Sets[0].ID.String()
	var user metadata.User
	var token string
	for _, step := range []struct {
		what string
		do   func() error
		want string
	}{
		{"the created objects", func() error { return nil }, "epoch.begin user.create key.create dataspace.create privilege.grant set.create resource.create resource.create"},
		{"replace", func() error { k.Replace(one, "longer than ten"); k.Replace(one, "3"); return nil }, "resource.replace resource.replace"},
		{"restore a version", func() error {
			_, err := svc.Versions.Restore(ctx, admin, one.ID.String(), "2", repositorytest.Always)
			return err
		}, "version.restore"},
		{"label a version", func() error {
			_, err := svc.Versions.Label(ctx, admin, one.ID.String(), "1", files.VersionFields{Label: new("l")}, repositorytest.Always)
			return err
		}, "version.label"},
		{"erase a version", func() error {
			_, _, err := svc.Versions.Erase(ctx, admin, one.ID.String(), "3")
			return err
		}, "version.erase"},
		{"delete a set", func() error {
			_, err := svc.Sets.Delete(ctx, admin, set, repositorytest.Always)
			return err
		}, "set.delete resource.delete resource.delete"},
		{"restore the dataspace of a deleted set", func() error {
			_, err := svc.Dataspaces.Delete(ctx, admin, space, repositorytest.Always)
			k.OK(err)
			_, err = svc.Dataspaces.Restore(ctx, admin, space, repositorytest.Always)
			return err
		}, "dataspace.delete dataspace.restore"},
		{"restore the set", func() error {
			_, err := svc.Sets.Restore(ctx, admin, set, repositorytest.Always)
			return err
		}, "set.restore resource.restore resource.restore"},
		{"purge", func() error {
			k.Delete(two)
			k.Purge(maintenance.PurgeOptions{DryRun: true})
			k.Purge(maintenance.PurgeOptions{})
			return nil
		}, "resource.delete purge.run resource.purge"},
		{"a user", func() (err error) {
			user, err = svc.Users.Create(ctx, admin, containers.NewUser{Username: "u"})
			return err
		}, "user.create"},
		{"sessions", func() error {
			_, key, err := svc.Users.CreateKey(ctx, admin, "me", containers.KeyFields{})
			k.OK(err)
			_, token, _, err = svc.Credentials.SignIn(ctx, key, "", auth.Origin{})
			k.OK(err)
			_, token, _, err = svc.Credentials.SignIn(ctx, key, token, auth.Origin{})
			k.OK(err)
			return svc.Credentials.SignOut(ctx, token, auth.Origin{})
		}, "key.create session.begin session.end session.begin session.end"},
		{"delete the user", func() error {
			_, err := svc.Users.Delete(ctx, admin, user.ID.String(), repositorytest.Always)
			return err
		}, "user.delete"},
		{"read", func() error { _, err := k.Content(one.ID); return err }, ""},
	} {
		before := len(actions(t, k.Meta, 0))
		if step.what == "the created objects" {
			before = 0
		}
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if got := strings.Join(actions(t, k.Meta, uint64(before)), " "); got != step.want {
			t.Errorf("%s: logged %q, want %q", step.what, got, step.want)
		}
	}
	k.Sound()
}

// writers lists the files that may write rows whose changes belong in the audit log, with the
// reason for each.
var writers = map[string]string{
	"repository/internal/rows/audit.go":     "saves with an entry",
	"repository/internal/rows/schemas.go":   "saves with an entry",
	"repository/internal/rows/edits.go":     "saves with an entry; how many files a bulk edit has changed is in theirs",
	"repository/internal/rows/copies.go":    "the entry of a move covers everything that moves with the file",
	"repository/internal/rows/resources.go": "saves with an entry; a flush changes where bytes are",
	"repository/internal/rows/versions.go":  "saves with an entry",
	"repository/core/lastuse.go":            "the time of the last use",
	"repository/core/sessions.go":           "sessions that have ended by themselves are cleared away",
	"verify/bench/fill.go":                  "fills a file with rows that no caller has changed",
	"verify/faults/script/ops.go":           "a script of operations of the store",
	"repository/repositorytest/audited.go":  "watches the others",
}

// TestRowsAreWrittenWithEntries: no file outside writers writes such rows.
func TestRowsAreWrittenWithEntries(t *testing.T) {
	t.Parallel()
	write := regexp.MustCompile(`\.(Dataspaces|Sets|Resources|Versions|Users|Keys|Privileges|Schemas|SchemaVersions|Edits|EditEntries)\.Put\(|\.Sessions\.(Put|Remove)\(`)
	found := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry os.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "web", "metadatatest"}, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if writes := write.Find(source); writes != nil {
			if found[name] = true; writers[name] == "" {
				t.Errorf("%s writes %s: use package rows, which logs it, or give the reason here why it is not a change", name, writes)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range writers {
		if !found[name] {
			t.Errorf("%s writes nothing", name)
		}
	}
}
