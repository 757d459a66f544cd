package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/repository"
)

// beat is how often a check says how far it is, also when that is no farther than before: so nobody on the way takes the
// connection for dead, and a client that is gone is noticed.
const beat = 500 * time.Millisecond

// checkLine is one line of the answer to a check: one of its members.
type checkLine struct {
	Violation *violationJSON  `json:"violation,omitempty"`
	Progress  *progressJSON   `json:"progress,omitempty"`
	End       *checkEndJSON   `json:"end,omitempty"`
	Error     *checkErrorJSON `json:"error,omitempty"`
}

type violationJSON struct {
	Part  string `json:"part"`
	Kind  string `json:"kind"`
	ID    string `json:"id"`
	Name  string `json:"name"`
	Wrong string `json:"wrong"`
}

type progressJSON struct {
	Done  int64 `json:"done"`  // bytes of blobs
	Total int64 `json:"total"` // bytes of blobs
}

type checkEndJSON struct {
	Stamp             int64 `json:"stamp"` // µs
	Resources         int64 `json:"resources"`
	Blobs             int64 `json:"blobs"`
	Bytes             int64 `json:"bytes"`
	Violations        int64 `json:"violations"`
	Unreferenced      int64 `json:"unreferenced"`
	UnreferencedBytes int64 `json:"unreferencedBytes"`
}

type checkErrorJSON struct {
	Code   errs.Code `json:"code"`
	Detail string    `json:"detail"`
}

// check looks at everything that is kept, and tells what it finds while it goes on. It ends when the client goes away. A
// request without a body asks for all.
func (a *api) check(w http.ResponseWriter, r *request) error {
	fields, err := readFields(w, r)
	if err != nil && !errors.Is(err, errNoBody) {
		return err
	}
	upkeep, err := a.repo.Upkeep(r.Context(), r.caller)
	if err != nil {
		return err
	}
	options, err := upkeep.CheckOptions(fields)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/jsonl")
	w.Header().Set("Cache-Control", "no-store")
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	lines := startLines(w, cancel)
	defer lines.stop() // also where the check panics: nothing may be written after the handler
	result, err := upkeep.Check(ctx, options, repository.CheckEvents{Violation: lines.violation, Progress: lines.progress})
	lines.stop()
	if err != nil {
		lines.write(checkLine{Error: a.checkError(w, r, err)})
		return nil
	}
	lines.write(checkLine{End: &checkEndJSON{int64(result.Stamp), result.Resources, result.Blobs, result.Bytes, result.Violations,
		result.Unreferenced, result.UnreferencedBytes}})
	return nil
}

// checkError says to the client, and in full to the log, why a check did not come to its end.
func (a *api) checkError(w http.ResponseWriter, r *request, err error) *checkErrorJSON {
	if r.Context().Err() == nil { // nobody wonders why a check ends whose client has gone
		noteError(w, err, http.StatusInternalServerError)
	}
	known := shownError(err)
	return &checkErrorJSON{known.Code, known.Message}
}

// checkLines writes the lines, and gives the check up when they cannot be written. Its methods may be called concurrently.
type checkLines struct {
	cancel context.CancelFunc
	stop   func() // returns when progress is told no more

	mu      sync.Mutex // of what follows
	lines   *json.Encoder
	control *http.ResponseController
	at      progressJSON
}

// startLines sends the header and begins to tell progress.
func startLines(w http.ResponseWriter, cancel context.CancelFunc) *checkLines {
	l := &checkLines{lines: json.NewEncoder(w), control: http.NewResponseController(w), cancel: cancel}
	var beats sync.WaitGroup
	ended := make(chan struct{})
	l.stop = sync.OnceFunc(func() { close(ended); beats.Wait() })
	l.lines.SetEscapeHTML(false)
	w.WriteHeader(http.StatusOK)
	_ = l.control.Flush() // the next line finds out what is wrong
	beats.Go(func() {
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
			}
			l.beat()
		}
	})
	return l
}

func (l *checkLines) write(line checkLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writeLocked(line)
}

func (l *checkLines) writeLocked(line checkLine) {
	if l.lines.Encode(line) != nil {
		l.cancel()
	}
}

// beat writes how far the check is, and sends all that is written.
func (l *checkLines) beat() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writeLocked(checkLine{Progress: &l.at})
	_ = l.control.Flush() // the next line finds out what is wrong
}

func (l *checkLines) violation(v metadata.Violation) {
	l.write(checkLine{Violation: &violationJSON{v.Part, v.Kind, v.ID, v.Name, v.Wrong}})
}

func (l *checkLines) progress(done, total int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = progressJSON{done, total}
}
