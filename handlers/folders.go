package handlers

import (
	"net/http"
	"strings"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/encode"
	"labshelf/metadata"
	"labshelf/repository"
)

// folderSizeJSON is a folder as the interface shows it.
type folderSizeJSON struct {
	Path    string `json:"path"`
	Files   int    `json:"files"`
	Bytes   int64  `json:"bytes"`
	Bounded bool   `json:"bounded"`
}

// folderJSON is a folder after a change, and of how much that was.
type folderJSON struct {
	SetID   string `json:"setId"`
	Path    string `json:"path"`
	Files   int    `json:"files"`
	Folders int    `json:"folders"`

	// Of a deletion: what restores it.
	Deletion string   `json:"deletion,omitempty"`
	Created  []string `json:"createdFolders,omitempty"`
}

// outlineJSON is how long a listing is, and where its pages begin.
type outlineJSON struct {
	Total   int        `json:"total"`
	Bounded bool       `json:"bounded"`
	Marks   []markJSON `json:"marks"`
}

type markJSON struct {
	Index    int    `json:"index"`
	Name     string `json:"name,omitempty"`
	Modified string `json:"modified,omitempty"`
	Page     string `json:"page"`
}

func (a *api) outlineResources(w http.ResponseWriter, r *request) error {
	outline, err := a.repo.OutlineResources(r.Context(), r.caller, r.list())
	if err != nil {
		return err
	}
	shown := outlineJSON{outline.Total, outline.Bounded, make([]markJSON, len(outline.Marks))}
	address := a.base(r.Request) + strings.TrimSuffix(r.path, "/outline") + results
	for i, m := range outline.Marks {
		shown.Marks[i] = markJSON{Index: m.Index, Name: m.Name, Page: address + m.Page}
		if m.Modified != 0 {
			shown.Marks[i].Modified = encode.Instant(m.Modified)
		}
	}
	writeJSON(w, http.StatusOK, shown)
	return nil
}

func (a *api) getFolder(w http.ResponseWriter, r *request) error {
	size, err := a.repo.GetFolder(r.Context(), r.caller, r.id(), r.query.Get("path"))
	if err == nil {
		writeJSON(w, http.StatusOK, folderSizeJSON(size))
	}
	return err
}

func (a *api) createFolder(w http.ResponseWriter, r *request) error {
	return changeFolder(w, r, http.StatusCreated, func(f repository.Fields) (in metadata.FolderKey, _ repository.FolderOutcome, err error) {
		in.SetID, _ = metadata.ParseID(r.id())
		in.Path, err = a.repo.CreateFolder(r.Context(), r.caller, r.id(), f)
		return in, repository.FolderOutcome{Folders: 1}, err
	})
}

func (a *api) copyFolder(w http.ResponseWriter, r *request) error { return a.placeFolder(w, r, false) }

func (a *api) moveFolder(w http.ResponseWriter, r *request) error { return a.placeFolder(w, r, true) }

func (a *api) placeFolder(w http.ResponseWriter, r *request, move bool) error {
	return changeFolder(w, r, http.StatusOK, func(f repository.Fields) (metadata.FolderKey, repository.FolderOutcome, error) {
		return a.repo.PlaceFolder(r.Context(), r.caller, r.id(), f, move)
	})
}

func (a *api) deleteFolder(w http.ResponseWriter, r *request) error {
	return changeFolder(w, r, http.StatusOK, func(f repository.Fields) (metadata.FolderKey, repository.FolderOutcome, error) {
		return a.repo.RemoveFolder(r.Context(), r.caller, r.id(), f)
	})
}

func (a *api) restoreFolder(w http.ResponseWriter, r *request) error {
	return changeFolder(w, r, http.StatusOK, func(f repository.Fields) (metadata.FolderKey, repository.FolderOutcome, error) {
		return a.repo.RestoreFolder(r.Context(), r.caller, r.id(), f)
	})
}

// manyJSON is what became of many files.
type manyJSON struct {
	Done    int              `json:"done"`
	Results []manyResultJSON `json:"results"`
}

type manyResultJSON struct {
	ID         string `json:"id"`
	ResourceID string `json:"resourceId,omitempty"` // of a copy or move: the file at the place
	Code       string `json:"code,omitempty"`
	Detail     string `json:"detail,omitempty"`
	Already    bool   `json:"already,omitempty"`
}

// changeMany deletes, restores, copies or moves files of a set.
func (a *api) changeMany(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	results, err := a.repo.ChangeMany(r.Context(), r.caller, r.id(), fields)
	if err != nil {
		return err
	}
	var shown manyJSON
	for _, result := range results {
		one := manyResultJSON{ID: result.ID, Already: result.Already}
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
	writeJSON(w, http.StatusOK, shown)
	return nil
}

// changeFolder answers with what a change has done, and to which folder.
func changeFolder(w http.ResponseWriter, r *request, status int, change func(repository.Fields) (metadata.FolderKey, repository.FolderOutcome, error)) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	folder, done, err := change(fields)
	if err == nil {
		writeJSON(w, status, folderJSON{folder.SetID.String(), folder.Path, done.Files, done.Folders, done.Deletion.String(), done.Made})
	}
	return err
}
