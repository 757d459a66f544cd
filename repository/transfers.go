package repository

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"time"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/errs"
	"labshelf/metadata"
)

// A file may come part by part, over days, connections and restarts. How much of it has come is a row, which never says more than
// is on stable storage. When all of it has, it becomes a resource as any other upload does, and the same commit writes down which:
// so that a client who has not heard of it finds that resource, and makes no second one.

// uploadAge is how long a transfer may pause where nobody says otherwise.
const uploadAge = 7 * 24 * time.Hour

// How much may come between two marks: so much a power cut may cost a client who sends all at once.
const (
	markEvery = 64 << 20 // bytes
	markAfter = 5 * time.Second
)

// TransferStart says what is to come, and where it goes: into Fields.SetID, or over a resource.
type TransferStart struct {
	Fields     UploadFields // with one digest at most
	ResourceID *string      // nil: it becomes a new resource
	Length     int64        // in bytes
	Announced  string       // for the gateway
}

// ResumableNames are what an upload in pieces calls its fields.
func ResumableNames() FieldNames {
	return FieldNames{Filename: "filename", ContentType: "filetype", Digest: "sha256", Size: "Upload-Length"}
}

// Piece is a part of a file.
type Piece struct {
	Offset int64 // where in the file it begins
	Length int64 // of Body, in bytes; negative: unknown
	Body   io.Reader
	Stop   func()       // makes a Read of Body, under way or to come, fail; called from another goroutine, perhaps several times
	Verify func() error // called when Body has ended: an error means that nothing of it counts; nil: whatever has come counts
}

// BeginTransfer begins with a file that comes in parts. What can be refused before it has come is refused now. An empty file has come
// whole with that: a transfer that comes with an error has begun, and its file is not taken.
func (s *Service) BeginTransfer(ctx context.Context, p auth.Principal, start TransferStart) (metadata.Transfer, error) {
	t := metadata.Transfer{
		UserID: p.UserID, Length: start.Length, Announced: start.Announced,
		Filename: start.Fields.Filename, ContentType: start.Fields.ContentType,
		Name: valueOf(start.Fields.Name), Format: valueOf(start.Fields.Format), Description: valueOf(start.Fields.Description),
	}
	for _, t.Expected = range start.Fields.Expected {
		if t.Expected == (blobs.Digest{}) { // no content has it, and the row of an upload has it for none
			return metadata.Transfer{}, &errs.Error{Kind: errs.Invalid, Code: errs.CodeDigestMismatch, Field: start.Fields.Names.digest(), Message: "no file has the SHA-256 announced, 64 zeros"}
		}
	}
	if t.Length == 0 { // as the last part of any other file does
		digest, err := t.Mark.Digest()
		if err != nil {
			return metadata.Transfer{}, s.blobError(err)
		}
		t.Digest = digest
	}
	find := func(tx *metadata.Tx, p auth.Principal) error { return aim(tx, p, &t, start) }
	if err := s.view(ctx, p, find); err != nil {
		return metadata.Transfer{}, err
	}
	if err := s.acceptable(start); err != nil {
		return metadata.Transfer{}, err
	}
	err := s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := find(tx, p); err != nil {
			return err
		}
		t.Created = tx.Stamp()
		t.ID, t.Expires = metadata.NewID(t.Created), s.uploadEnd()
		return tx.Transfers.Put(t)
	})
	if err != nil {
		return metadata.Transfer{}, err
	}
	if t.Whole() {
		return s.finish(ctx, p, t)
	}
	return t, nil
}

func valueOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func (s *Service) uploadEnd() metadata.Stamp {
	return s.now() + metadata.Stamp(s.config.UploadAge/time.Microsecond)
}

// aim finds where the file goes, and whether it may.
func aim(tx *metadata.Tx, p auth.Principal, t *metadata.Transfer, start TransferStart) error {
	if start.ResourceID != nil {
		placed, err := replaceable(tx, p, *start.ResourceID, start.Fields)
		t.ResourceID = placed.ID
		if match := start.Fields.Match; err == nil && (match.IfMatch.Set && !match.IfMatch.Any || !match.IfUnmodifiedSince.IsZero()) {
			t.Match = placed.shown().Tag()
		}
		return blame(err, "resourceId")
	}
	if start.Fields.SetID == nil {
		return missing("setId", "setId is required: the id of the set that receives the file; or resourceId, to replace one")
	}
	set, err := openSet(tx, p, *start.Fields.SetID)
	t.SetID = set.ID
	return err
}

// blame names the field that an object comes from in an error which says what is wrong with the object.
func blame(err error, field string) error {
	var known *errs.Error
	if !errors.As(err, &known) || known.Field != "" || known.Kind != errs.NotFound && known.Kind != errs.Conflict {
		return err
	}
	blamed := *known
	blamed.Field = field
	return &blamed
}

// acceptable refuses what the file could never be.
func (s *Service) acceptable(start TransferStart) error {
	if most := s.config.MaxUpload; most > 0 && start.Length > most {
		return &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge, Field: start.Fields.Names.size(), Message: "the file is larger than this service accepts"}
	}
	file, err := described(start.Fields)
	if err == nil {
		_, err = mimeOf(start.Fields.ContentType, start.Fields.Names.contentType(), nil, file.Filename, file.Name)
	}
	if err == nil {
		err = s.roomFor(start.Length)
	}
	return err
}

// fieldsOf is what came with the announcement.
func fieldsOf(t metadata.Transfer) UploadFields {
	f := UploadFields{Name: &t.Name, Format: &t.Format, Description: &t.Description, Filename: t.Filename, ContentType: t.ContentType, Names: ResumableNames()}
	if t.SetID != (metadata.ID{}) {
		set := t.SetID.String()
		f.SetID = &set
	}
	if t.Expected != (blobs.Digest{}) {
		f.Expected = []blobs.Digest{t.Expected}
	}
	if t.Match != "" {
		f.Match = Match{IfMatch: ETags{Set: true, Tags: []string{t.Match}}}
	}
	return f
}

// GetTransfer returns a transfer of the caller as it is when nobody is at it. One that has come whole and was not refused, since the
// service ended just then for instance, becomes a resource now; one that was refused gives its refusal.
func (s *Service) GetTransfer(ctx context.Context, p auth.Principal, id string) (metadata.Transfer, error) {
	t, turn, err := s.atTransfer(ctx, p, id, func() {})
	if err != nil {
		return t, err
	}
	defer turn.give()
	switch {
	case t.Done():
		return t, nil
	case t.Refusal.Code != "":
		return t, &errs.Error{Kind: t.Refusal.Kind, Code: t.Refusal.Code, Field: t.Refusal.Field, Message: t.Refusal.Message}
	case t.Whole():
		return s.finish(ctx, p, t)
	}
	return s.found(t)
}

// ContinueTransfer adds a piece to a transfer of the caller. The last one makes the resource; so does an empty one at the end of a
// file that was refused, as if it had just come. What has come of a piece before its Body failed is kept.
func (s *Service) ContinueTransfer(ctx context.Context, p auth.Principal, id string, piece Piece) (metadata.Transfer, error) {
	t, turn, err := s.atTransfer(ctx, p, id, piece.Stop)
	if err != nil {
		return t, err
	}
	defer turn.give()
	if !t.Whole() {
		if t, err = s.found(t); err != nil {
			return t, err
		}
	}
	if piece.Offset != t.Mark.Size {
		return t, conflict(errs.CodeOffset, "Upload-Offset", "the next piece of this upload begins at byte %d, not %d", t.Mark.Size, piece.Offset)
	}
	if piece.Length > t.Length-piece.Offset {
		return t, errLonger
	}
	s.hold.busy.begin()
	defer s.hold.busy.end()
	piece.Body = turn.watch(piece.Body)
	if t.Whole() {
		err = ignore(ending(piece.Body), io.EOF)
	} else {
		t, err = s.add(context.WithoutCancel(ctx), t, piece)
	}
	if err != nil || !t.Waits() {
		return t, err
	}
	return s.finish(ctx, p, t)
}

// EndTransfer gives a transfer of the caller up. A resource that it has made stays. A file that cannot be removed now is for the sweeper.
func (s *Service) EndTransfer(ctx context.Context, p auth.Principal, id string) error {
	t, turn, err := s.atTransfer(ctx, p, id, func() {})
	if err != nil {
		return err
	}
	defer turn.give()
	_, err = s.forget(ctx, t.ID, func(metadata.Transfer) error { return nil })
	return err
}

// found begins a transfer anew whose file is not there as far as its row says: a backup holds the rows, and not these files.
func (s *Service) found(t metadata.Transfer) (metadata.Transfer, error) {
	err := s.blobs.HavePart(t.PartName(), t.Mark)
	if !errors.Is(err, blobs.ErrNotFound) {
		return t, s.blobError(err)
	}
	return s.restart(t)
}

func (s *Service) restart(t metadata.Transfer) (metadata.Transfer, error) {
	t.Mark, t.Digest, t.Refusal = blobs.Mark{}, blobs.Digest{}, metadata.Refusal{}
	return t, s.keep(t)
}

// keep writes down how far a transfer has come. Who sent what has come no longer matters.
func (s *Service) keep(t metadata.Transfer) error {
	return s.write(context.Background(), func(tx *metadata.Tx) error { return tx.Transfers.Put(t) })
}

// errLonger: more has come than was announced. Whose bytes these are, nobody knows.
var errLonger error = invalid("Upload-Length", "more has come than the %s of this upload", "Upload-Length")

// ending returns io.EOF if a body has ended, and errLonger if it has not.
func ending(body io.Reader) error {
	var more [1]byte
	n, err := io.ReadFull(body, more[:])
	if n > 0 {
		return errLonger
	}
	return err
}

// add adds a piece. Marks are set on the way, unless it has to be verified first.
func (s *Service) add(ctx context.Context, t metadata.Transfer, piece Piece) (metadata.Transfer, error) {
	if s.unsynced.Load() != nil { // no mark could be set
		return t, storageError(metadata.ErrReadOnly)
	}
	every, body := int64(markEvery), &spell{Reader: piece.Body, last: markAfter}
	if piece.Verify != nil {
		every, body.last = t.Length, math.MaxInt64
	}
	for {
		body.begun = time.Now()
		mark, reading := s.blobs.AddPart(ctx, t.PartName(), t.Mark, body, min(every, t.Length-t.Mark.Size))
		reading = ignore(reading, errSpell)
		if reading == nil && mark.Size == t.Length {
			reading = ending(piece.Body)
		}
		refused := piece.refused(reading)
		if refused != nil || mark == t.Mark && errors.Is(reading, blobs.ErrNoSpace) {
			_ = s.blobs.CutPart(t.PartName(), t.Mark) // others may need the room; if it does not work, the next piece takes it
		}
		if refused != nil {
			return t, s.blobError(refused)
		}
		if mark != t.Mark {
			marked, err := s.mark(t, mark)
			if err != nil {
				return t, err
			}
			t = marked
		}
		switch {
		case errors.Is(reading, io.EOF):
			return t, nil
		case reading != nil:
			return t, s.blobError(reading)
		}
	}
}

// spell is a body that pauses when it has been read for a while.
type spell struct {
	io.Reader
	begun time.Time
	last  time.Duration
}

var errSpell = errors.New("enough for now")

func (s *spell) Read(p []byte) (int, error) {
	if time.Since(s.begun) > s.last {
		return 0, errSpell
	}
	return s.Reader.Read(p)
}

// refused returns why nothing of a piece counts, after its body has ended (io.EOF), failed, or come so far (nil).
func (p Piece) refused(reading error) error {
	switch {
	case errors.Is(reading, errLonger):
		return errLonger
	case p.Verify == nil, reading == nil:
		return nil
	case errors.Is(reading, io.EOF):
		return p.Verify()
	}
	return reading
}

// mark writes down that so much has come.
func (s *Service) mark(t metadata.Transfer, mark blobs.Mark) (metadata.Transfer, error) {
	t.Mark, t.Expires = mark, s.uploadEnd()
	if mark.Size == t.Length {
		digest, err := mark.Digest()
		if err != nil {
			return t, s.blobError(err)
		}
		t.Digest = digest
	}
	return t, s.keep(t)
}

// refusals are the kinds of errors that say something about the upload, and not about the service at this time.
var refusals = []errs.Kind{errs.Invalid, errs.Forbidden, errs.NotFound, errs.Conflict, errs.Gone, errs.Precondition}

// finish makes the resource of a transfer that has come whole. A refusal is written down, so that whoever asks for the upload hears
// it again, and not that all of it is there, which a client would take for success.
func (s *Service) finish(ctx context.Context, p auth.Principal, t metadata.Transfer) (metadata.Transfer, error) {
	ctx = context.WithoutCancel(ctx) // all has come: whether the client still listens does not matter
	staged, err := s.whole(ctx, t)
	if errors.Is(err, blobs.ErrNotFound) {
		return s.restart(t)
	}
	if err != nil {
		return t, s.blobError(err)
	}
	u := s.NewUpload(p)
	defer func() { _ = u.Discard() }() // there is nothing to remove
	u.received = &received{staged: staged, digest: staged.Digest()}
	done := t
	u.with = func(tx *metadata.Tx, made metadata.Resource) error {
		done.Made, done.Digest, done.Refusal, done.Expires = made.ID, staged.Digest(), metadata.Refusal{}, s.uploadEnd()
		return tx.Transfers.Put(done)
	}
	if t.ResourceID != (metadata.ID{}) {
		_, err = u.Replace(ctx, t.ResourceID.String(), fieldsOf(t))
	} else {
		_, err = u.Create(ctx, fieldsOf(t))
	}
	if err == nil {
		_ = s.blobs.DropPart(t.PartName()) // or the sweeper does
		return done, nil
	}
	var refused *errs.Error
	if errors.As(err, &refused) && slices.Contains(refusals, refused.Kind) {
		t.Digest = staged.Digest()
		t.Refusal = metadata.Refusal{Kind: refused.Kind, Code: refused.Code, Field: refused.Field, Message: refused.Message}
		err = errors.Join(err, s.keep(t))
	}
	return t, err
}

// whole is WholePart. A file that is in its place already is read first: it may be another upload's, and have lain there for long.
func (s *Service) whole(ctx context.Context, t metadata.Transfer) (blobs.Staged, error) {
	if err := s.blobs.HavePart(t.PartName(), t.Mark); errors.Is(err, blobs.ErrNotFound) {
		wrong, err := verdict(t.Digest, blobs.Verify(ctx, s.blobs, t.Digest, t.Mark.Size))
		if err == nil && wrong != "" {
			err = blobs.ErrNotFound
		}
		if err != nil {
			return nil, err
		}
	}
	return s.blobs.WholePart(t.PartName(), t.Mark)
}
