package maintenance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/storage"
)

// watermarkEvery is the time between two watermarks while there are changes.
const watermarkEvery = time.Minute

// watermarks is implemented by blob stores that can hold a watermark; see directory.Store.
type watermarks interface {
	Watermark() (text, aside []byte, err error)
	SetWatermark(text []byte) error
	AsideWatermark() error
}

// watermark identifies the state of the metadata that the blobs belong to. It is stored among the
// blobs, so that restoring older metadata is detected.
type watermark struct {
	Identity metadata.Identity `json:"identity"`
	Epoch    metadata.EpochID  `json:"epoch"`
	Stamp    metadata.Stamp    `json:"stamp"` // of a change that was on stable storage, µs
}

// lineageState is the present state of the metadata.
type lineageState struct {
	identity metadata.Identity
	epoch    metadata.Epoch
	last     metadata.Stamp
}

// mark returns the watermark of the state.
func (s lineageState) mark() watermark { return watermark{s.identity, s.epoch.ID, s.last} }

// older returns why metadata in this state are neither the ones that the blobs belong to nor later
// ones. It returns "" if they are.
func (s lineageState) older(w watermark) string {
	at := func(stamp metadata.Stamp) string { return stamp.Time().Format(time.RFC3339Nano) }
	switch {
	case w == (watermark{}):
		return ""
	case w.Identity != s.identity:
		return fmt.Sprintf("the files in blobs/ belong to another repository, %s; the metadata are of %s", w.Identity, s.identity)
	case w.Epoch == s.epoch.ID && s.last < w.Stamp:
		return fmt.Sprintf("the metadata are older than the files: their last change is of %s, but the files belong to metadata with changes until %s",
			at(s.last), at(w.Stamp))
	case !s.epoch.Continues(w.Epoch, w.Stamp):
		return fmt.Sprintf("the metadata do not continue the metadata to which the files belong: these had changes until %s, in the epoch %s; "+
			"the metadata are of the epoch %s, which began with the state of %s", at(w.Stamp), w.Epoch, s.epoch.ID, at(s.epoch.Base))
	}
	return ""
}

// parseWatermark parses a stored watermark. An empty text is the zero watermark.
func parseWatermark(text []byte) (w watermark, err error) {
	if len(text) == 0 {
		return w, nil
	}
	if err := json.Unmarshal(text, &w); err != nil {
		return w, fmt.Errorf("%w: %w", errWatermark, err)
	}
	return w, nil
}

// errWatermark reports that metadata and files cannot be compared.
var errWatermark = errors.New("the watermark among the files cannot be read")

// readWatermarks returns the watermark of the blobs, and the one that was set aside.
func readWatermarks(files watermarks) (current, aside watermark, err error) {
	text, asideText, err := files.Watermark()
	if err != nil {
		return current, aside, fmt.Errorf("%w: %w", errWatermark, err)
	}
	current, err = parseWatermark(text)
	aside, asideErr := parseWatermark(asideText)
	return current, aside, errors.Join(err, asideErr)
}

// lineageNow reads the state of the metadata that is on stable storage.
func lineageNow(ctx context.Context, s *storage.Stores) (state lineageState, err error) {
	state.identity = metadata.IdentityOf(s.Meta.Secret())
	err = s.Meta.ViewDurable(ctx, func(tx *metadata.Tx) error {
		if state.epoch, err = tx.Lineage.Epoch(); err != nil {
			return err
		}
		state.last, err = tx.Lineage.LastStamp()
		return err
	})
	return state, err
}

// olderMetadata returns why the metadata are not those that the blobs belong to. It returns "" if
// they are, or if the blob store has no watermark.
func olderMetadata(ctx context.Context, s *storage.Stores) (why string, err error) {
	files, ok := s.Blobs.(watermarks)
	if !ok {
		return "", nil
	}
	current, aside, err := readWatermarks(files) // read before the metadata, which may advance
	if err != nil {
		return "", err
	}
	state, err := lineageNow(ctx, s)
	if err != nil {
		return "", err
	}
	if why = state.older(current); why == "" && aside != (watermark{}) {
		if why = state.older(aside); why == "" {
			why = "blobs/watermark.ahead reports that the metadata were put back, but the metadata match it again"
		}
	}
	return why, nil
}

// watermarker writes the watermark at intervals, and at the end.
type watermarker struct {
	*storage.Stores
	files   watermarks
	now     func() time.Time
	written watermark
	older   bool // the metadata do not continue the watermark and have no new epoch yet
	worker  *background.Worker
}

// startWatermarker compares the metadata with the watermark, reports older metadata, and starts
// writing watermarks.
func startWatermarker(s *storage.Stores, now func() time.Time) *watermarker {
	w := &watermarker{Stores: s, now: now}
	var ok bool
	if w.files, ok = s.Blobs.(watermarks); !ok {
		return w
	}
	ctx := context.Background()
	w.compare(ctx)
	w.settle(ctx)
	w.written, _, _ = readWatermarks(w.files) // unreadable: reported, and replaced
	w.worker = background.Start(background.After(watermarkEvery), w.run)
	return w
}

// close writes the last watermark. Nothing may change afterwards.
func (w *watermarker) close() {
	if w.worker == nil {
		return
	}
	w.worker.Close()
	w.write(context.Background())
}

func (w *watermarker) run(ctx context.Context) background.Next {
	w.write(ctx)
	w.compare(ctx)
	w.settle(ctx)
	return background.After(watermarkEvery)
}

// compare reports metadata that are older than the blobs, until an operator removes the watermark
// that was set aside.
func (w *watermarker) compare(ctx context.Context) {
	why, err := olderMetadata(ctx, w.Stores)
	if errors.Is(err, metadata.ErrNotDurable) {
		return // the service reports this state elsewhere
	}
	if err == nil && why != "" {
		err = errors.New(why)
	}
	w.older = w.older || why != ""
	w.Background.Report(background.TaskWatermark, err)
}

func (w *watermarker) settle(ctx context.Context) {
	if !w.older {
		return
	}
	err := settleWatermark(ctx, w.Stores, w.now())
	w.older = err != nil
	if !errors.Is(err, metadata.ErrReadOnly) && !errors.Is(err, errWatermark) { // reported elsewhere
		w.Background.Report(background.TaskSetWatermark, err)
	}
}

// SettleWatermark must be called by a process that has opened the stores for writing, before its
// first change: a later stamp would hide that the metadata are older than the files. A Service
// still reports older metadata afterwards.
func SettleWatermark(ctx context.Context, store metadata.Store, files blobs.Reader, now time.Time) error {
	return errs.Ignore(settleWatermark(ctx, storage.New(store, files, nil), now), errWatermark) // a check reports it, and a service replaces the watermark
}

// settleWatermark begins an epoch if the metadata do not continue the watermark, and sets the
// watermark aside. From then on, the age of unreferenced blobs counts anew, and a later start can
// distinguish this state from the lost one. A watermark that was set aside earlier stays, unless
// the metadata have returned to it.
func settleWatermark(ctx context.Context, s *storage.Stores, now time.Time) error {
	files, ok := s.Blobs.(watermarks)
	if !ok {
		return nil
	}
	current, aside, err := readWatermarks(files)
	if err != nil {
		return err
	}
	state, err := lineageNow(ctx, s)
	if err != nil || state.older(current) == "" {
		return err
	}
	if _, err := metadata.BeginEpoch(ctx, s.Meta, now); err != nil {
		return err
	}
	if aside != (watermark{}) && state.older(aside) != "" {
		return nil
	}
	return files.AsideWatermark()
}

// write writes the watermark if it has changed. Without free space it retries later; an outdated
// watermark is harmless.
func (w *watermarker) write(ctx context.Context) {
	if w.older || w.Unsynced() != nil || w.Meta.Health().ReadOnly != nil {
		return
	}
	state, err := lineageNow(ctx, w.Stores)
	if err != nil || state.mark() == w.written {
		return // reported elsewhere
	}
	text, err := json.Marshal(state.mark())
	if err == nil {
		err = w.files.SetWatermark(append(text, '\n'))
	}
	if err == nil {
		w.written = state.mark()
	}
	if !errors.Is(err, blobs.ErrNoSpace) && !errors.Is(err, blobs.ErrUnavailable) {
		w.Background.Report(background.TaskSetWatermark, err)
	}
}

// checkHistory reports metadata that are older than the files.
func (c *check) checkHistory(ctx context.Context) error {
	why, err := olderMetadata(ctx, c.stores)
	if errors.Is(err, errWatermark) {
		why = errWatermark.Error()
	}
	if why != "" {
		c.report(metadata.Violation{Part: metadata.PartHistory, Kind: "metadata", Wrong: why})
	}
	return errs.Ignore(err, errWatermark)
}
