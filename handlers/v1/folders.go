package v1

import (
	"net/http"
	"strings"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/folders"
)

// Folders serves folders of sets.
type Folders struct{ *api }

// Outline answers with the outline of a listing of a set.
func (a Folders) Outline(w http.ResponseWriter, r *exchange.Request) error {
	outline, err := a.repo.Files.Outline(r.Context(), r.Caller, r.List(paging.SetResources))
	if err != nil {
		return err
	}
	shown := wire.Outline{Total: outline.Total, Bounded: outline.Bounded, Marks: make([]wire.Mark, len(outline.Marks))}
	address := a.hosts.Base(r.Request) + strings.TrimSuffix(r.Path, "/outline") + exchange.Results
	for i, m := range outline.Marks {
		shown.Marks[i] = wire.Mark{Index: m.Index, Name: m.Name, Page: address + m.Page}
		if m.Modified != 0 {
			shown.Marks[i].Modified = encode.Time(m.Modified)
		}
	}
	exchange.WriteJSON(w, http.StatusOK, shown)
	return nil
}

// Get answers with the number and size of the files in a folder.
func (a Folders) Get(w http.ResponseWriter, r *exchange.Request) error {
	size, err := a.repo.Folders.Size(r.Context(), r.Caller, r.ID(), r.Query.Get("path"))
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, wire.FolderSize(size))
	}
	return err
}

// Create creates a folder.
func (a Folders) Create(w http.ResponseWriter, r *exchange.Request) error {
	return changeFolder(w, r, http.StatusCreated, func(f input.Object) (in metadata.FolderKey, _ folders.FolderOutcome, err error) {
		in.SetID, _ = metadata.ParseID(r.ID())
		in.Path, err = a.repo.Folders.Create(r.Context(), r.Caller, r.ID(), input.FolderPath(f))
		return in, folders.FolderOutcome{Folders: 1}, err
	})
}

// Copy copies a folder with its files.
func (a Folders) Copy(w http.ResponseWriter, r *exchange.Request) error {
	return changeFolder(w, r, http.StatusOK, func(f input.Object) (metadata.FolderKey, folders.FolderOutcome, error) {
		return a.repo.Folders.Copy(r.Context(), r.Caller, r.ID(), input.Placement(f))
	})
}

// Move moves or renames a folder.
func (a Folders) Move(w http.ResponseWriter, r *exchange.Request) error {
	return changeFolder(w, r, http.StatusOK, func(f input.Object) (metadata.FolderKey, folders.FolderOutcome, error) {
		return a.repo.Folders.Move(r.Context(), r.Caller, r.ID(), input.Placement(f))
	})
}

// Delete deletes a folder with its files.
func (a Folders) Delete(w http.ResponseWriter, r *exchange.Request) error {
	return changeFolder(w, r, http.StatusOK, func(f input.Object) (metadata.FolderKey, folders.FolderOutcome, error) {
		return a.repo.Folders.Delete(r.Context(), r.Caller, r.ID(), input.FolderPath(f))
	})
}

// Restore restores a deleted folder.
func (a Folders) Restore(w http.ResponseWriter, r *exchange.Request) error {
	return changeFolder(w, r, http.StatusOK, func(f input.Object) (metadata.FolderKey, folders.FolderOutcome, error) {
		return a.repo.Folders.Restore(r.Context(), r.Caller, r.ID(), input.Restoration(f))
	})
}

// ChangeMany deletes, restores, copies or moves files of a set.
func (a Folders) ChangeMany(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	results, err := a.repo.Files.ChangeMany(r.Context(), r.Caller, r.ID(), input.Many(fields))
	if err != nil {
		return err
	}
	var shown wire.ManyChanged
	for _, result := range results {
		one := wire.ManyResult{ID: result.ID, Already: result.Already}
		if result.Arrived.ID != (metadata.ID{}) {
			one.ResourceID = result.Arrived.ID.String()
		}
		if refused := result.Refused; refused != nil {
			one.Code, one.Detail = string(refused.Code), refused.Message
		} else {
			shown.Done++
		}
		shown.Results = append(shown.Results, one)
	}
	exchange.WriteJSON(w, http.StatusOK, shown)
	return nil
}

// changeFolder answers with the result of a change and the changed folder.
func changeFolder(w http.ResponseWriter, r *exchange.Request, status int, change func(input.Object) (metadata.FolderKey, folders.FolderOutcome, error)) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	folder, done, err := change(fields)
	if err == nil {
		exchange.WriteJSON(w, status, wire.FolderChange{
			SetID: folder.SetID.String(), Path: folder.Path, Files: done.Files, Folders: done.Folders, Deletion: done.Deletion.String(), CreatedFolders: done.Made,
		})
	}
	return err
}
