package exchange

import (
	"encoding/base32"
	"net/http"
	"time"

	"labshelf/auth"
	"labshelf/auth/admission"
)

// RequestIDHeader is the header of every answer that names its request.
const RequestIDHeader = "X-Request-Id"

// RequestID is the text of the id of a request: 26 characters.
var RequestID = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString

// Notes is what the code that answers a request leaves for the access log and the observer. The
// gateway's ResponseWriter embeds it.
type Notes struct {
	Number     [16]byte // the id of the request
	Caller     auth.Principal
	Err        error
	Idle       time.Duration // in which there was nothing to do
	OverBudget string        // of which resource the caller has used up its share; "": of none
}

func (n *Notes) notes() *Notes { return n }

// NotesOf returns the notes of an answer. With another ResponseWriter than the gateway's, nobody
// reads them.
func NotesOf(w http.ResponseWriter) *Notes {
	if noted, ok := w.(interface{ notes() *Notes }); ok {
		return noted.notes()
	}
	return &Notes{}
}

// NoteCaller sets the caller for the log.
func NoteCaller(w http.ResponseWriter, caller auth.Principal) { NotesOf(w).Caller = caller }

// NoteIdle adds to the time in which the service waited for something to happen, which is no work
// of its own.
func NoteIdle(w http.ResponseWriter, d time.Duration) { NotesOf(w).Idle += d }

// NoteError sets the error for the log, where that is more than the answer says: a fault of the
// service.
func NoteError(w http.ResponseWriter, err error) { NotesOf(w).Err = err }

// noteOverBudget sets for log and observer that the caller has used up its share.
func noteOverBudget(w http.ResponseWriter, refusal *admission.Refusal) {
	NotesOf(w).OverBudget = refusal.Resource
}
