package repository_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs/blobstest"
	"labshelf/internal/servers"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/describe"
	"labshelf/repository/files"
	"labshelf/repository/folders"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
	"labshelf/repository/resumable"
)

// interrupted is an operation on node a during which one commit is interrupted.
type interrupted struct {
	a, b     *repositorytest.World
	meta     metadata.Store // of node b and of the test
	database *commits
	proxy    *servers.Proxy // proxy of the database of node a; nil if there is no database
	set      metadata.Set
	ids      []string                      // of the 201 files in the set, which are more than one step
	thaw     atomic.Pointer[chan struct{}] // closed when node a continues; nil while it runs
	commits  int                           // commits of the operation
	at       int                           // number of the interrupted commit, from 1
	how      interruption
	changed  bool // whether a commit of the operation has changed something
	undo     folders.Restoration
	edit     string
}

type operationContext struct{}

// interruption runs a commit and interrupts it.
type interruption func(i *interrupted, commit func() error) error

// operation is an operation with several commits, or under a lease. before prepares the repository.
type operation struct {
	before, run func(i *interrupted, ctx context.Context) error
	kept        bool // a refusal may report the kept changes, but must not claim that nothing was done
}

// mostInterrupted is the number of the last commit that is interrupted. A purge makes one commit
// for each blob.
const mostInterrupted = 6

// interruptions are the ways to interrupt a commit.
var interruptions = map[string]interruption{
	"the answer is lost": func(_ *interrupted, commit func() error) error {
		if err := commit(); err != nil {
			return err
		}
		return metadata.ErrOutcomeUnknown
	},
	"unknown outcome, not committed": func(*interrupted, func() error) error { return metadata.ErrOutcomeUnknown },
	"the database does not answer":   func(*interrupted, func() error) error { return metadata.ErrUnavailable },
	"no space is left":               func(*interrupted, func() error) error { return metadata.ErrNoSpace },
	"the node is frozen, and its leases end": func(i *interrupted, commit func() error) error {
		thaw := make(chan struct{})
		i.thaw.Store(&thaw)
		time.Sleep(10 * time.Second)
		i.endLeases(func(l metadata.Lease, now metadata.Stamp) bool { return l.Ends <= now })
		close(thaw)
		return commit()
	},
	"the set is deleted": func(i *interrupted, commit func() error) error {
		_, err := i.b.Service.Sets.Delete(context.Background(), i.b.Admin, i.set.ID.String(), repositorytest.Always)
		i.a.OK(err)
		return commit()
	},
}

var operations = map[string]operation{
	"delete a folder": {run: (*interrupted).deleteFolder},
	"copy a folder": {run: func(i *interrupted, ctx context.Context) error {
		_, err := copyFolder(ctx, i.a.Service, i.a.Admin, folder(i.set, "d/"), folder(i.set, "e/"), folders.RefuseExisting)
		return err
	}},
	"replace a folder": {run: func(i *interrupted, ctx context.Context) error {
		_, err := copyFolder(ctx, i.a.Service, i.a.Admin, folder(i.set, "d/"), folder(i.set, "f/"), folders.ReplaceExisting)
		return err
	}},
	"move a folder": {run: func(i *interrupted, ctx context.Context) error {
		_, err := moveFolder(ctx, i.a.Service, i.a.Admin, folder(i.set, "d/"), folder(i.set, "e/"), folders.RefuseExisting)
		return err
	}},
	"restore a folder": {before: (*interrupted).deleteFolder, run: func(i *interrupted, ctx context.Context) error {
		_, _, err := i.a.Service.Folders.Restore(ctx, i.a.Admin, i.set.ID.String(), i.undo)
		return err
	}},
	"delete a folder on the drive": {run: func(i *interrupted, ctx context.Context) error {
		_, err := i.a.Service.Drive.Delete(ctx, i.a.Admin, i.drive("d"), func(folders.DriveEntry) error { return nil })
		return err
	}},
	"move a folder on the drive": {run: func(i *interrupted, ctx context.Context) error {
		_, _, err := i.a.Service.Drive.Relocate(ctx, i.a.Admin, folders.Relocation{From: i.drive("d"), To: i.drive("e"), Move: true})
		return err
	}},
	"move a file onto a folder": {run: func(i *interrupted, ctx context.Context) error {
		_, _, err := i.a.Service.Drive.Relocate(ctx, i.a.Admin, folders.Relocation{From: i.drive("f/file"), To: i.drive("d"), Move: true, Overwrite: true})
		return err
	}},
	"delete many": {run: func(i *interrupted, ctx context.Context) error {
		results, err := i.a.Service.Files.ChangeMany(ctx, i.a.Admin, i.set.ID.String(), files.Many{Action: files.DeleteMany, IDs: i.ids})
		for _, r := range results {
			id, _ := metadata.ParseID(r.ID)
			unknown := r.Refused != nil && r.Refused.Code == errs.CodeOutcomeUnknown
			if done := i.row(id).State == metadata.Deleted && i.row(id).TakenBy == 0; done == (r.Refused != nil) && !unknown && !r.Already {
				i.a.T.Errorf("%s is deleted: %v, but the error is %v", r.ID, done, r.Refused)
			}
		}
		return err
	}},
	"edit many": {run: (*interrupted).editMany},
	"undo an edit": {before: (*interrupted).editMany, run: func(i *interrupted, ctx context.Context) error {
		_, err := i.a.Service.BulkEdits.Undo(ctx, i.a.Admin, i.edit)
		return err
	}},
	"purge": {before: (*interrupted).deleteFolder, run: func(i *interrupted, ctx context.Context) error {
		time.Sleep(time.Second) // a purge keeps objects that are deleted at this moment
		upkeep, err := i.a.Service.Monitor.Upkeep(ctx, i.a.Admin)
		if err == nil {
			_, err = upkeep.Purge(ctx, maintenance.PurgeOptions{})
		}
		return err
	}},
	"delete a set": {kept: true, run: func(i *interrupted, ctx context.Context) error {
		_, err := i.a.Service.Sets.Delete(ctx, i.a.Admin, i.set.ID.String(), repositorytest.Always)
		return err
	}},
	"upload": {kept: true, run: func(i *interrupted, ctx context.Context) error {
		set, name := i.set.ID.String(), "new"
		_, err := i.upload(ctx, files.UploadStart{Fields: files.UploadFields{SetID: &set, Name: &name}, Length: 4})
		return err
	}},
	"upload nothing": {kept: true, run: func(i *interrupted, ctx context.Context) error {
		set, name := i.set.ID.String(), "new"
		_, err := i.a.Service.Uploads.Create(ctx, i.a.Admin, files.UploadStart{Fields: files.UploadFields{SetID: &set, Name: &name}})
		return err
	}},
}

func (i *interrupted) deleteFolder(ctx context.Context) error {
	done, err := deleteFolder(ctx, i.a.Service, i.a.Admin, folder(i.set, "d/"))
	i.undo = folders.Restoration{Path: "d/", Deletion: done.Deletion, Created: []string{"d/in/"}}
	return err
}

func (i *interrupted) editMany(ctx context.Context) error {
	done, err := i.a.Service.BulkEdits.EditMany(ctx, i.a.Admin, i.set.ID.String(), describe.ManyFields{IDs: i.ids, AddTags: []string{"tag"}}, false)
	if done.Edit != nil {
		i.edit = done.Edit.ID.String()
	}
	return err
}

// upload begins an upload. The tested operation is the chunk that completes it.
func (i *interrupted) upload(ctx context.Context, start files.UploadStart) (metadata.ResumableUpload, error) {
	t, err := i.a.Service.Uploads.Create(i.a.T.Context(), i.a.Admin, start)
	i.a.OK(err)
	chunk := resumable.Chunk{Length: -1, Body: io.MultiReader(strings.NewReader("file")), Stop: func() {}}
	return i.a.Service.Uploads.Chunks.Append(ctx, i.a.Admin, t.ID.String(), chunk)
}

func (i *interrupted) drive(path string) folders.DrivePath {
	return folders.DrivePath{Dataspace: i.a.Space.Name, Set: i.set.Name, Path: path}
}

func (i *interrupted) row(id metadata.ID) (r metadata.Resource) {
	i.a.OK(i.meta.View(context.Background(), func(tx *metadata.Tx) (err error) {
		r, err = tx.Resources.Get(id)
		return err
	}))
	return r
}

// holds returns the content of the repository without leases and nodes.
func (i *interrupted) holds() (all string) {
	i.a.OK(i.meta.View(context.Background(), func(tx *metadata.Tx) error {
		log, err := tx.Audit.State()
		all = fmt.Sprint(log.Size)
		for row, failed := range tx.Folders.From(metadata.FolderKey{SetID: i.set.ID}) {
			all += row.Path
			err = errors.Join(err, failed)
		}
		for id, failed := range tx.Uploads.Ended(math.MaxInt64) {
			t, missing := tx.Uploads.Get(id)
			all += fmt.Sprint(t.ID, t.Checkpoint.Size, t.Made, t.Refusal.Code)
			err = errors.Join(err, failed, missing)
		}
		return err
	}))
	return all
}

// around interrupts one commit. It blocks all other commits of node a while that node is frozen.
func (i *interrupted) around(ctx context.Context, commit func() error) error {
	if ctx.Value(operationContext{}) == nil {
		if thaw := i.thaw.Load(); thaw != nil {
			<-*thaw
		}
		return commit()
	}
	noting := func() error {
		before := i.holds()
		err := commit()
		i.changed = i.changed || i.holds() != before
		return err
	}
	if i.commits++; i.commits == i.at {
		return i.how(i, noting)
	}
	return noting()
}

// judge compares the result of an operation with its changes.
func (i *interrupted) judge(what string, kept bool, err error) {
	known, _ := errors.AsType[*errs.Error](err)
	if err == nil || !i.changed {
		if known != nil && known.Code == errs.CodeOutcomeUnknown && !errors.Is(err, metadata.ErrOutcomeUnknown) {
			i.a.T.Errorf("%s: it has changed nothing, but returns %v", what, err)
		}
		return
	}
	refusals := []errs.Code{errs.CodeBusy, errs.CodeLocked, errs.CodeUnavailable, errs.CodeNoSpace, errs.CodeReadOnly}
	switch {
	case known == nil, strings.Contains(known.Message, "nothing was"),
		!kept && known.Code != errs.CodeOutcomeUnknown, kept && slices.Contains(refusals, known.Code):
		i.a.T.Errorf("%s: it has changed something, but returns %v", what, err)
	}
}

// TestRefusedOperationChangesNothing: if an operation may have committed something, its error
// reports that, wherever the operation is interrupted. It never reports a refusal.
func TestRefusedOperationChangesNothing(t *testing.T) {
	t.Parallel()
	var template *repositorytest.World
	var tables *metadatatest.Memory
	synctest.Test(t, func(t *testing.T) {
		tables = metadatatest.NewMemory(time.Now)
		template = interruptedWorld(t, tables)
	})
	for name, operation := range operations {
		for how, interrupt := range interruptions {
			t.Run(name+", "+how, func(t *testing.T) {
				for at, more := 1, true; more && at <= mostInterrupted; at++ {
					synctest.Test(t, func(t *testing.T) {
						meta := tables.Reopen(time.Now)
						more = (&interrupted{meta: meta, how: interrupt, at: at}).try(t, template, meta, operation)
					})
				}
			})
		}
	}
}

// endLeases removes the leases for which ended returns true.
func (i *interrupted) endLeases(ended func(l metadata.Lease, now metadata.Stamp) bool) {
	i.a.OK(i.meta.Update(context.Background(), func(tx *metadata.Tx) error {
		for l, err := range tx.Leases.Under("") {
			if err == nil && ended(l, tx.Now()) {
				err = tx.Leases.Remove(l.Name)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// interruptedWorld creates the set in which the operations run.
func interruptedWorld(t *testing.T, meta metadata.Store) *repositorytest.World {
	w := repositorytest.NewWorld(t, repository.New(meta, blobstest.NewMemory(), repository.Config{PageSize: 100, DirectoryPageSize: 100}), 0)
	for n := range 201 {
		w.Resources = append(w.Resources, w.Upload(w.Sets[0], fmt.Sprintf("d/%03d", n)))
	}
	w.Resources = append(w.Resources, w.Upload(w.Sets[0], "f/file"))
	w.OK(meta.Update(t.Context(), func(tx *metadata.Tx) error {
		return tx.Folders.Put(metadata.Folder{SetID: w.Sets[0].ID, Path: "d/in/", CreatedBy: w.Admin.UserID})
	}))
	w.Service.Close()
	return w
}

// try runs an operation on node a, which uses the store metaOfA, and interrupts one commit. It
// reports whether the operation got that far.
func (i *interrupted) try(t *testing.T, template *repositorytest.World, metaOfA metadata.Store, o operation) bool {
	i.set = template.Sets[0]
	for _, r := range template.Resources[:201] {
		i.ids = append(i.ids, r.ID.String())
	}
	files := blobstest.NewMemory()
	for _, r := range template.Resources {
		staged, err := files.Stage(t.Context(), strings.NewReader(r.Name), 0)
		if err == nil {
			_, err = staged.Commit(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	node := func(name string, meta metadata.Store) (*repositorytest.World, *repositorytest.Shared) {
		w, shared := template.NewNode(meta, files, repository.Config{Node: name, PageSize: 100, DirectoryPageSize: 100})
		w.T = t
		return w, shared
	}
	a, ofA := node("a", metaOfA)
	i.a = a
	i.b, _ = node("b", i.meta)
	defer i.b.Service.Close()
	defer a.Service.Close()
	if o.before != nil {
		a.OK(o.before(i, t.Context()))
	}
	ofA.AroundUpdates(i.around)
	err := o.run(i, context.WithValue(t.Context(), operationContext{}, true))
	ofA.AroundUpdates(nil)
	if i.commits < i.at && err != nil {
		t.Fatalf("uninterrupted: %v", err)
	}
	i.judge(fmt.Sprint("commit ", i.at), o.kept, err)
	return i.commits >= i.at
}
