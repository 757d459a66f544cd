package v1

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"labshelf/blobs"
	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/download"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/maintenance"
)

// Maintenance serves snapshots, checks and purges.
type Maintenance struct{ *api }

// stampHeader holds the stamp of the last change in a snapshot, in µs.
const stampHeader = "Labshelf-Stamp"

// Snapshot sends one consistent copy of the metadata. It supports no ranges, since the next copy
// may differ.
func (a Maintenance) Snapshot(w http.ResponseWriter, r *exchange.Request) error {
	upkeep, err := a.repo.Monitor.Upkeep(r.Context(), r.Caller)
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
	download.SendStream(w, r, snapshot, snapshot.Bytes(), a.still(r))
	return nil
}

// still returns a function that fails when the caller is no longer a sysadmin.
func (a Maintenance) still(r *exchange.Request) func() error {
	return func() error { return a.repo.Monitor.MayStillMaintain(r.Context(), r.Caller) }
}

// Blob sends a blob by its digest, even if no resource references it.
func (a Maintenance) Blob(w http.ResponseWriter, r *exchange.Request) error {
	upkeep, err := a.repo.Monitor.Upkeep(r.Context(), r.Caller)
	if err != nil {
		return err
	}
	name := r.Params.ByName("digest")
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
	return a.downloads.Send(w, r, download.Content{File: file, Digest: digest, Bytes: bytes, Still: a.still(r)})
}

// maxLabelled limits the labeled versions in the answer to a purge. The count includes all of them.
const maxLabelled = 1000

// Purge removes the files of resources that were deleted long ago.
func (a Maintenance) Purge(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	upkeep, err := a.repo.Monitor.Upkeep(r.Context(), r.Caller)
	if err != nil {
		return err
	}
	options, err := input.PurgeOptions(fields, a.repo.Monitor.TrashGrace())
	if err != nil {
		return err
	}
	options.By = r.Caller
	labelled := []wire.LabelledVersion{}
	options.Labelled = func(v metadata.Version) {
		if len(labelled) < maxLabelled {
			labelled = append(labelled, wire.LabelledVersion{ResourceID: v.ResourceID.String(), Name: v.Name, Version: int64(v.Number) + 1, Label: v.Label})
		}
	}
	p, err := upkeep.Purge(r.Context(), options)
	if err != nil {
		return err
	}
	exchange.WriteJSON(w, http.StatusOK, wire.PurgeResult{
		DryRun: options.DryRun, Resources: p.Resources, ResourceBytes: p.ResourceBytes, Versions: p.Versions, VersionBytes: p.VersionBytes,
		LabelledVersions: p.LabelledVersions, Labelled: labelled, Blobs: p.Blobs, BlobBytes: p.BlobBytes, Orphans: p.Orphans, OrphanBytes: p.OrphanBytes,
		TrashFiles: p.TrashFiles, TrashBytes: p.TrashBytes, Recent: p.Recent, RecentBytes: p.RecentBytes,
	})
	return nil
}

// heartbeat is the interval of progress reports of a check, with or without progress. Reports keep
// proxies from closing the connection, and they reveal that a client has disconnected.
const heartbeat = 500 * time.Millisecond

// Check checks all data and streams violations while it runs. It ends when the client disconnects.
// A request without a body requests a complete check.
func (a Maintenance) Check(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil && !errors.Is(err, body.ErrEmpty) {
		return err
	}
	upkeep, err := a.repo.Monitor.Upkeep(r.Context(), r.Caller)
	if err != nil {
		return err
	}
	options, err := input.CheckOptions(fields)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/jsonl")
	w.Header().Set("Cache-Control", "no-store")
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	lines := startLines(w, cancel, a.still(r))
	defer lines.stop() // also after a panic of the check: nothing may write after the handler returns
	result, err := upkeep.Check(ctx, options, maintenance.CheckEvents{Violation: lines.violation, Progress: lines.progress})
	lines.stop()
	if err = cmp.Or(lines.ended, a.still(r)(), err); err != nil {
		lines.write(wire.CheckLine{Error: a.checkError(w, r, err)})
		return nil
	}
	lines.write(wire.CheckLine{End: &wire.CheckResult{
		Stamp: int64(result.Stamp), Resources: result.Resources, Blobs: result.Blobs, Bytes: result.Bytes, Violations: result.Violations,
		Unreferenced: result.Unreferenced, UnreferencedBytes: result.UnreferencedBytes,
	}})
	return nil
}

// checkError logs why a check failed, in full, and returns the reason for the client.
func (a Maintenance) checkError(w http.ResponseWriter, r *exchange.Request, err error) *wire.CheckError {
	if r.Context().Err() == nil { // otherwise the client disconnected, which is not an error
		exchange.NoteError(w, err)
	}
	known := exchange.PublicError(err)
	return &wire.CheckError{Code: known.Code, Detail: known.Message}
}

// checkLines writes the lines of the answer, and cancels the check if a write fails. Its methods
// are safe for concurrent use.
type checkLines struct {
	cancel context.CancelFunc
	stop   func() // ends the progress reports and waits for the last one
	still  func() error

	mu      sync.Mutex // guards the fields below
	ended   error      // the error of still
	lines   *json.Encoder
	control *http.ResponseController
	at      wire.Progress
}

// startLines sends the header and starts to report progress. It cancels the check when still
// returns an error.
func startLines(w http.ResponseWriter, cancel context.CancelFunc, still func() error) *checkLines {
	l := &checkLines{lines: json.NewEncoder(w), control: http.NewResponseController(w), cancel: cancel, still: still}
	var beats sync.WaitGroup
	ended := make(chan struct{})
	l.stop = sync.OnceFunc(func() { close(ended); beats.Wait() })
	l.lines.SetEscapeHTML(false)
	w.WriteHeader(http.StatusOK)
	_ = l.control.Flush() // the next write reports the error
	beats.Go(func() {
		ticker := time.NewTicker(heartbeat)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
			}
			l.heartbeat()
		}
	})
	return l
}

func (l *checkLines) write(line wire.CheckLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writeLocked(line)
}

func (l *checkLines) writeLocked(line wire.CheckLine) {
	if l.lines.Encode(line) != nil {
		l.cancel()
	}
}

// heartbeat writes the progress and flushes. It cancels the check when still returns an error.
func (l *checkLines) heartbeat() {
	ended := l.still()
	l.mu.Lock()
	defer l.mu.Unlock()
	if ended != nil {
		l.ended = ended
		l.cancel()
		return
	}
	l.writeLocked(wire.CheckLine{Progress: &l.at})
	_ = l.control.Flush() // the next write reports the error
}

func (l *checkLines) violation(v metadata.Violation) {
	l.write(wire.CheckLine{Violation: (*wire.Violation)(&v)})
}

func (l *checkLines) progress(done, total int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = wire.Progress{Done: done, Total: total}
}
