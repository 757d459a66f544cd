package handlers

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"labshelf/blobs"
	"labshelf/handlers/internal/body"
	"labshelf/metadata"
)

// stampHeader names the stamp of the last change in a snapshot, in µs.
const stampHeader = "Labshelf-Stamp"

// getSnapshot sends one consistent copy of the metadata. It has no ranges: the next copy may be of another state.
func (a *api) getSnapshot(w http.ResponseWriter, r *request) error {
	upkeep, err := a.repo.Upkeep(r.Context(), r.caller)
	if err != nil {
		return err
	}
	snapshot, err := upkeep.Snapshot(r.Context())
	if err != nil {
		return err
	}
	defer func() {
		if err := snapshot.Close(); err != nil {
			a.config.Log.Warn().Err(err).Msg("a copy of the metadata could not be removed")
		}
	}()
	header := w.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Length", strconv.FormatInt(snapshot.Bytes(), 10))
	header.Set("Cache-Control", "no-store")
	header.Set(stampHeader, strconv.FormatInt(int64(snapshot.Stamp()), 10))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	if n, err := io.Copy(w, snapshot); isReadError(err) || err == nil && n != snapshot.Bytes() {
		noteError(w, errors.Join(io.ErrUnexpectedEOF, err), http.StatusInternalServerError) // the client sees it by the length
	}
	return nil
}

// getBlob sends a blob by its digest, also one that no resource refers to any more.
func (a *api) getBlob(w http.ResponseWriter, r *request) error {
	upkeep, err := a.repo.Upkeep(r.Context(), r.caller)
	if err != nil {
		return err
	}
	name := r.params.ByName("digest")
	file, bytes, err := upkeep.OpenBlob(r.Context(), name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read from
	digest, err := blobs.ParseDigest(name)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment; filename="+digest.String())
	return a.sendContent(w, r, content{file, digest, bytes, time.Time{}, false})
}

type purgeJSON struct {
	DryRun           bool           `json:"dryRun"`
	Resources        int64          `json:"resources"`
	ResourceBytes    int64          `json:"resourceBytes"`
	Versions         int64          `json:"versions"`
	VersionBytes     int64          `json:"versionBytes"`
	LabelledVersions int64          `json:"labelledVersions"`
	Labelled         []labelledJSON `json:"labelled"`
	Blobs            int64          `json:"blobs"`
	BlobBytes        int64          `json:"blobBytes"`
	Orphans          int64          `json:"orphans"`
	OrphanBytes      int64          `json:"orphanBytes"`
	TrashFiles       int64          `json:"trashFiles"`
	TrashBytes       int64          `json:"trashBytes"`
	Recent           int64          `json:"recent"`
	RecentBytes      int64          `json:"recentBytes"`
}

// labelledJSON names a version with a label that a purge takes.
type labelledJSON struct {
	ResourceID string `json:"resourceId"`
	Name       string `json:"name"`
	Version    int64  `json:"version"`
	Label      string `json:"label"`
}

// maxLabelled is how many versions with a label the answer to a purge names; it counts all.
const maxLabelled = 1000

// purge removes the files of resources that were deleted long ago.
func (a *api) purge(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	upkeep, err := a.repo.Upkeep(r.Context(), r.caller)
	if err != nil {
		return err
	}
	options, err := a.repo.PurgeOptions(fields)
	if err != nil {
		return err
	}
	options.By = r.caller
	labelled := []labelledJSON{}
	options.Labelled = func(v metadata.Version) {
		if len(labelled) < maxLabelled {
			labelled = append(labelled, labelledJSON{v.ResourceID.String(), v.Name, int64(v.Number) + 1, v.Label})
		}
	}
	p, err := upkeep.Purge(r.Context(), options)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, purgeJSON{
		options.DryRun, p.Resources, p.ResourceBytes, p.Versions, p.VersionBytes, p.LabelledVersions, labelled, p.Blobs, p.BlobBytes, p.Orphans, p.OrphanBytes, p.TrashFiles, p.TrashBytes,
		p.Recent, p.RecentBytes,
	})
	return nil
}
