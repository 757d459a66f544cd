package exchange

import (
	"encoding/base32"
	"net/http"
	"time"

	"labshelf/auth"
	"labshelf/auth/admission"
)

// RequestIDHeader is the header with the request id, in every answer.
const RequestIDHeader = "X-Request-Id"

// RequestID returns the text of a request id, with 26 characters.
var RequestID = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString

// Notes are values that the code of an answer records for the access log and the observer. The
// gateway's ResponseWriter embeds them.
type Notes struct {
	Number     [16]byte // request id
	Caller     auth.Principal
	Err        error
	Idle       time.Duration // time spent waiting for events
	OverBudget string        // resource whose share the caller has used up; "": none
}

func (n *Notes) notes() *Notes { return n }

// NotesOf returns the notes of an answer. For a ResponseWriter other than the gateway's, the notes
// are discarded.
func NotesOf(w http.ResponseWriter) *Notes {
	if noted, ok := w.(interface{ notes() *Notes }); ok {
		return noted.notes()
	}
	return &Notes{}
}

// NoteCaller records the caller for the log.
func NoteCaller(w http.ResponseWriter, caller auth.Principal) { NotesOf(w).Caller = caller }

// NoteIdle adds to the time that the service spent waiting for events. It does not count as the
// service's own work.
func NoteIdle(w http.ResponseWriter, d time.Duration) { NotesOf(w).Idle += d }

// NoteError records an error for the log that the answer does not contain: a fault of the service.
func NoteError(w http.ResponseWriter, err error) { NotesOf(w).Err = err }

// noteOverBudget records for the log and the observer that the caller has used up its share.
func noteOverBudget(w http.ResponseWriter, refusal *admission.Refusal) {
	NotesOf(w).OverBudget = refusal.Resource
}
