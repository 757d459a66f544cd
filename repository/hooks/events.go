package hooks

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// ParseEvents checks a list of patterns and returns them in the form that metadata.Webhook stores.
// A pattern is a kind of event, such as resource.create, or all kinds of a noun, such as
// resource.*. The error states the rule.
func ParseEvents(patterns []string) (string, error) {
	for _, pattern := range patterns {
		if !audit.Known(pattern) {
			return "", fmt.Errorf("each must be a kind of event such as resource.create, or all events of an object kind such as resource.*")
		}
	}
	return strings.Join(patterns, " "), nil
}

// hears reports whether a kind of event matches one of the patterns. Empty patterns match all
// kinds.
func hears(patterns, kind string) bool {
	if patterns == "" {
		return true
	}
	for pattern := range strings.FieldsSeq(patterns) {
		if noun, all := strings.CutSuffix(pattern, "*"); pattern == kind || all && strings.HasPrefix(kind, noun) {
			return true
		}
	}
	return false
}

// message is a message to send or already sent.
type message struct {
	place // after the entry
	entry uint64
	id    string
	event string
	body  []byte
}

// place is a position in the log, with the epoch of the preceding entry.
type place struct {
	position uint64
	epoch    metadata.EpochID
}

// payload is the body of a message. It contains no names or other texts, because these can be
// erased here but not at a receiver.
type payload struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Data      data   `json:"data"`
}

type data struct {
	Number      uint64      `json:"number"` // of the entry
	UserID      string      `json:"userId,omitempty"`
	Object      *objectJSON `json:"object,omitempty"`
	DataspaceID string      `json:"dataspaceId,omitempty"`
	SetID       string      `json:"setId,omitempty"`
	SubjectID   string      `json:"subjectId,omitempty"`
	SHA256      string      `json:"sha256,omitempty"`
	Bytes       *uint64     `json:"bytes,omitempty"`
	Version     uint64      `json:"version,omitempty"`
	Cause       uint64      `json:"cause,omitempty"`
	Head        string      `json:"head"`
}

type objectJSON struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// compose builds the message of an entry.
func (h *Hooks) compose(tx *metadata.Tx, number uint64, e audit.Entry, in rows.Containers, epoch metadata.EpochID) (m message, err error) {
	head, err := tx.SignHead(h.secret, number+1)
	if err != nil {
		return m, err
	}
	p := payload{Type: e.Action.String(), Timestamp: metadata.Stamp(e.Stamp).Time().Format("2006-01-02T15:04:05.000Z07:00")}
	p.Data = data{
		Number: number, UserID: idText(e.User), DataspaceID: idText(in.Dataspace), SetID: idText(in.Set), SubjectID: idText(e.Subject),
		Version: e.Version, Cause: e.Cause, Head: head.Signed,
	}
	if e.Object != (audit.Object{}) {
		p.Data.Object = &objectJSON{e.Object.Kind.String(), idText(e.Object.ID)}
	}
	if e.Digest != ([32]byte{}) {
		p.Data.SHA256, p.Data.Bytes = hex.EncodeToString(e.Digest[:]), &e.Bytes
	}
	m = message{place: place{number + 1, epoch}, entry: number, id: fmt.Sprintf("%s.%d", epoch, number), event: p.Type}
	m.body, err = json.Marshal(p)
	return m, err
}

func idText(id metadata.ID) string {
	if id == (metadata.ID{}) {
		return ""
	}
	return id.String()
}

// secretsOf returns the secrets that sign the messages of a webhook at time now, newest first.
func secretsOf(hook metadata.Webhook, now metadata.Stamp) []string {
	if hook.FormerUntil > now {
		return []string{hook.Secret, hook.FormerSecret}
	}
	return []string{hook.Secret}
}

func stampOf(t time.Time) metadata.Stamp { return metadata.Stamp(t.UnixMicro()) }
