package datadir

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/backup"
	"labshelf/blobs/s3"
	"labshelf/cli/exit"
	"labshelf/internal/servers"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
)

// site is a possible location of a repository.
type site struct {
	path string
	at   Stores
}

func newSite(t *testing.T, at Stores) site {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	return site{path, at}
}

// objects returns an unused prefix in an S3 store.
func objects(t *testing.T, server *servers.S3) Stores {
	t.Helper()
	return Stores{
		Blobs: "s3://" + server.Bucket(t) + "/data",
		S3:    s3.Options{Endpoint: server.Endpoint(), Region: server.Region, KeyID: server.AccessKey, Secret: server.SecretKey},
	}
}

// with calls fn while a service runs at the site.
func (s site) with(t *testing.T, fn func(*repository.Service)) {
	t.Helper()
	data, err := Open(s.path, s.at)
	if err != nil {
		t.Fatal(err)
	}
	repo := repository.New(data.Metadata, data.Blobs, repository.Config{PageSize: 100, DirectoryPageSize: 100, HoldUpTo: 100})
	fn(repo)
	repo.Close()
	if err := data.Close(); err != nil {
		t.Error(err)
	}
}

const moved = 20

func body(i int) string { return strings.Repeat(fmt.Sprint("file ", i, "\n"), i*i+1) }

// contents describes the repository that fill has created: the key of the admin, and the files by
// id.
type contents struct {
	key   string
	files map[string]string
}

// fill creates a repository with files, some of them inline.
func (s site) fill(t *testing.T) (made contents) {
	t.Helper()
	made.files = map[string]string{}
	s.with(t, func(repo *repository.Service) {
		var err error
		if made.key, err = repo.Users.Bootstrap(t.Context(), auth.NewKey()); err != nil {
			t.Fatal(err)
		}
		admin, err := repo.Credentials.Authenticate(t.Context(), made.key, auth.Origin{})
		if err != nil {
			t.Fatal(err)
		}
		space, err := repo.Dataspaces.Create(t.Context(), admin, containers.NewDataspace{Name: "physics"})
		if err != nil {
			t.Fatal(err)
		}
		set, err := repo.Sets.Create(t.Context(), admin, containers.NewSet{Name: "runs", DataspaceID: space.ID.String()})
		if err != nil {
			t.Fatal(err)
		}
		into := set.ID.String()
		for i := range moved {
			u := repo.Uploads.NewUpload(admin)
			err := u.Receive(t.Context(), strings.NewReader(body(i)))
			var r metadata.Resource
			if err == nil {
				r, err = u.Create(t.Context(), files.UploadFields{SetID: &into, Filename: fmt.Sprint(i)})
			}
			if err != nil {
				t.Fatal(err)
			}
			made.files[r.ID.String()] = body(i)
		}
	})
	return made
}

// holds checks the repository: the key works, every file can be read, and a check finds nothing.
func (s site) holds(t *testing.T, made contents) {
	t.Helper()
	s.with(t, func(repo *repository.Service) {
		admin, err := repo.Credentials.Authenticate(t.Context(), made.key, auth.Origin{})
		if err != nil {
			t.Fatalf("the key: %v", err)
		}
		for id, want := range made.files {
			_, file, err := repo.Files.OpenResource(t.Context(), admin, id)
			if err != nil {
				t.Errorf("%s: %v", id, err)
				continue
			}
			got, err := io.ReadAll(file)
			if err = errors.Join(err, file.Close()); err != nil || string(got) != want {
				t.Errorf("%s: %d bytes, %v; want %d", id, len(got), err, len(want))
			}
		}
	})
	data, err := OpenReadOnly(s.path, s.at)
	if err != nil {
		t.Fatal(err)
	}
	found := maintenance.CheckEvents{Violation: func(v metadata.Violation) { t.Errorf("violation: %v", v) }}
	_, err = maintenance.NewUpkeep(data.Metadata, data.Blobs).Check(t.Context(), maintenance.CheckOptions{}, found)
	if err := errors.Join(err, data.Close()); err != nil {
		t.Error(err)
	}
}

// move moves a repository from one site to another.
func move(ctx context.Context, from, to site, o backup.MoveOptions) (done backup.Moved, err error) {
	old, err := OpenReadOnly(from.path, from.at)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	target, err := OpenTarget(ctx, to.path, to.at, old)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if done, err = backup.Move(ctx, backup.Origin{Metadata: old.Metadata, Files: old.Blobs}, target.Destination(), o); err == nil {
		_, err = target.SetAside()
	}
	return done, err
}

// TestMoves moves one repository to each combination of engines, and back. The content stays the
// same, and no source changes.
func TestMoves(t *testing.T) {
	t.Parallel()
	database, store := servers.StartPostgres(t), servers.StartS3(t)
	both := objects(t, store)
	both.Metadata = database.Database(t)
	sites := []site{
		newSite(t, Stores{}), newSite(t, both), newSite(t, objects(t, store)), newSite(t, Stores{Metadata: database.Database(t)}), newSite(t, Stores{}),
	}
	made := sites[0].fill(t)
	for i, to := range sites[1:] {
		from := sites[i]
		done, err := move(t.Context(), from, to, backup.MoveOptions{})
		if err != nil {
			t.Fatalf("to site %d: %v", i+1, err)
		}
		if done.Copied != done.Files || done.Files.Count == 0 || done.Lost != 0 || done.Rows == 0 {
			t.Errorf("to site %d: %+v", i+1, done)
		}
		to.holds(t, made)
		from.holds(t, made)
		if left, err := os.ReadDir(to.path); err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), MoveFile) }) {
			t.Errorf("to site %d: remaining files: %v, %v", i+1, left, err)
		}
	}
}

// TestMoveResumes: an interrupted move resumes, and copies nothing twice. No service can start in
// between.
func TestMoveResumes(t *testing.T) {
	t.Parallel()
	store := servers.StartS3(t)
	for name, at := range map[string]Stores{"folders": {}, "an S3": objects(t, store)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := newSite(t, Stores{}), newSite(t, at)
			made := from.fill(t)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			some := backup.Events{Progress: func(what string, done, total int64) {
				if what == "files" && done > total/2 {
					stop()
				}
			}}
			first, err := move(ctx, from, to, backup.MoveOptions{Events: some})
			if !errors.Is(err, context.Canceled) || first.Copied.Count == 0 || first.Copied == first.Files {
				t.Fatalf("interrupted: %+v, %v", first, err)
			}
			if _, err := Open(to.path, to.at); !errors.Is(err, ErrNoMetadata) {
				t.Errorf("a service starts on a partial move: %v", err)
			}
			second, err := move(t.Context(), from, to, backup.MoveOptions{})
			if err != nil || first.Copied.Count+second.Copied.Count != second.Files.Count {
				t.Fatalf("continued: %+v after %+v, %v", second, first, err)
			}
			to.holds(t, made)
		})
	}
}

// TestMoveFollowsChanges: a move that resumes after an interruption also copies what changed in
// between.
func TestMoveFollowsChanges(t *testing.T) {
	t.Parallel()
	from, to := newSite(t, Stores{}), newSite(t, objects(t, servers.StartS3(t)))
	made := from.fill(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	first, err := move(ctx, from, to, backup.MoveOptions{Events: backup.Events{Progress: func(what string, _, _ int64) {
		if what == "records" {
			stop()
		}
	}}})
	if !errors.Is(err, context.Canceled) || first.Copied != first.Files {
		t.Fatalf("interrupted: %+v, %v", first, err)
	}
	from.with(t, func(repo *repository.Service) {
		admin, err := repo.Credentials.Authenticate(t.Context(), made.key, auth.Origin{})
		if err == nil {
			_, err = repo.Dataspaces.Create(t.Context(), admin, containers.NewDataspace{Name: "chemistry"})
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	second, err := move(t.Context(), from, to, backup.MoveOptions{})
	if err != nil || second.Copied.Count != 0 || second.Stamp <= first.Stamp {
		t.Errorf("continued: %+v after %+v, %v", second, first, err)
	}
	to.holds(t, made)
}

// TestMoveInPlace: if only the metadata move, no file is copied, and the metadata file is renamed.
func TestMoveInPlace(t *testing.T) {
	t.Parallel()
	from := newSite(t, Stores{})
	made := from.fill(t)
	to := site{from.path, Stores{Metadata: servers.StartPostgres(t).Database(t)}}
	if _, err := Open(to.path, to.at); !errors.Is(err, exit.ErrUsage) {
		t.Errorf("before: %v", err)
	}
	done, err := move(t.Context(), from, to, backup.MoveOptions{})
	if err != nil || done.Copied.Count != 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	to.holds(t, made)
	if _, err := Open(from.path, from.at); !errors.Is(err, ErrNoMetadata) {
		t.Errorf("the old service: %v", err)
	}
}

// TestMoveRefuses: a move rejects an occupied target and an incomplete source.
func TestMoveRefuses(t *testing.T) {
	t.Parallel()
	from, full := newSite(t, Stores{}), newSite(t, Stores{})
	made := from.fill(t)
	full.fill(t)
	if _, err := move(t.Context(), from, full, backup.MoveOptions{}); !errors.Is(err, exit.ErrUsage) {
		t.Errorf("to a repository: %v", err)
	}
	var lost string
	for _, text := range made.files {
		lost = max(lost, text)
	}
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(lost)))
	if err := os.WriteFile(filepath.Join(from.path, "blobs", digest[:2], digest), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	to := newSite(t, Stores{})
	if done, err := move(t.Context(), from, to, backup.MoveOptions{}); !errors.Is(err, backup.ErrLost) || done.Lost != 1 {
		t.Errorf("with a damaged file: %+v, %v", done, err)
	}
	if done, err := move(t.Context(), from, to, backup.MoveOptions{Partial: true}); err != nil || done.Lost != 1 {
		t.Errorf("with a damaged file that is accepted: %+v, %v", done, err)
	}
}

// TestBackupOfCluster: a backup of a database and an S3 store has the usual form, and can be
// restored to a data directory.
func TestBackupOfCluster(t *testing.T) {
	t.Parallel()
	at := objects(t, servers.StartS3(t))
	at.Metadata = servers.StartPostgres(t).Database(t)
	from := newSite(t, at)
	made := from.fill(t)
	data, err := OpenReadOnly(from.path, from.at)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "backup")
	found := backup.Events{Violation: func(v metadata.Violation) { t.Errorf("violation: %v", v) }}
	_, err = backup.Create(t.Context(), backup.Local{Metadata: data.Metadata, Files: data.Blobs}, folder, backup.CreateOptions{Events: found})
	if err := errors.Join(err, data.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Verify(t.Context(), folder, "", backup.RestoreOptions{Events: found}); err != nil {
		t.Error(err)
	}
	to := newSite(t, Stores{})
	if _, err := backup.Restore(t.Context(), folder, to.path, backup.RestoreOptions{Events: found}); err != nil {
		t.Fatal(err)
	}
	to.holds(t, made)
}
