package handlers

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/handlers/internal/authentication"
	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/visits"
	"labshelf/handlers/wire"
	"labshelf/repository/core"
	"labshelf/repository/links"
)

// admitGuest finds the user of a request below the address of a link, and counts it where there is
// none: a key must be valid, a session that has ended is none, and HTTP Basic has the password of a
// link.
func (a visitRoutes) admitGuest(w http.ResponseWriter, r *exchange.Request, basic bool) (*auth.Principal, error) {
	if basic || !authentication.HasCredentials(r.Request) {
		return nil, a.auth.CountAnonymous(w.Header(), r.Request)
	}
	answer := http.Header{}
	caller, err := a.auth.Authenticate(answer, r.Request)
	if err == nil {
		return &caller, nil
	}
	isNone := []errs.Code{errs.CodeUnauthenticated, errs.CodeTooManyFailures, authentication.ErrCrossOrigin.Code}
	if len(r.Header.Values("Authorization")) == 0 && slices.Contains(isNone, exchange.PublicError(err).Code) {
		return nil, a.auth.CountAnonymous(w.Header(), r.Request)
	}
	maps.Copy(w.Header(), answer)
	return nil, err
}

// guestOf returns the user of a request for an invitation, for the log, too; nil: nobody that is
// known.
func (a visitRoutes) guestOf(w http.ResponseWriter, r *exchange.Request, v visitor) *auth.Principal {
	if v.guest == nil {
		return nil
	}
	exchange.NoteCaller(w, *v.guest)
	v.guest.Origin = a.auth.Origin(w, r.Request)
	return v.guest
}

// refusedInvitation is why an invitation was not accepted as it was asked for, and what was
// entered.
type refusedInvitation struct {
	*errs.Error
	username, fullname string
}

// showInvitation answers with an invitation, as it is for the user who is signed in in this
// browser. refused is nil, or why the form comes again.
func (a visitRoutes) showInvitation(w http.ResponseWriter, r *exchange.Request, v visitor, visit links.LinkView, refused *refusedInvitation) error {
	if !wantsPage(r.Request) {
		exchange.WriteJSON(w, http.StatusOK, wire.Invited{
			Kind: visit.Kind.String(), From: visit.Owner, Dataspace: visit.Title, Role: visit.Role.String(), Expires: expiresText(visit.Expires, time.RFC3339),
		})
		return nil
	}
	// The page says where its form comes from, without its address: otherwise a request over the
	// plain network has no origin.
	w.Header().Set("Referrer-Policy", "strict-origin")
	caller := a.guestOf(w, r, v)
	title := visit.Owner + " invites you"
	if caller == nil && r.Method != http.MethodPost && r.URL.RawQuery == "" && r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		again := visits.Problem{Frame: a.visitFrame(title), Address: a.visitAddress(r, v.Token) + "?again"} // once, whatever a browser says then
		return a.writeVisit(w, http.StatusOK, func(to io.Writer) error { return visits.WriteAgain(to, again) })
	}
	page := visits.Invitation{
		Frame: a.visitFrame(title), Dataspace: visit.Title, Role: visit.Role.String(), Expires: expiresText(visit.Expires, time.DateOnly),
		SignIn: a.hosts.Prefix() + "/signin", Start: a.hosts.Prefix() + "/",
	}
	if caller != nil {
		offered, err := a.repo.Visitors.Offered(r.Context(), v.Visitor, *caller)
		if err != nil {
			return err
		}
		page.As, page.Nothing = caller.Username, nothingFor(offered, visit.Title)
		page.Start = a.startOf(offered)
	}
	status := http.StatusOK
	if refused != nil {
		status, page.Username, page.Fullname = exchange.Status(refused.Kind), refused.username, refused.fullname
		if page.Wrong, page.Why = refused.Field, refused.Message; page.As != "" || page.Wrong != "username" && page.Wrong != "fullname" {
			page.Message = refused.Message
		}
		if refused.Code == errs.CodeUsernameTaken {
			page.Why = "This username is taken. Please choose another one."
		}
	}
	return a.writeVisit(w, status, func(to io.Writer) error { return visits.WriteInvitation(to, page) })
}

// nothingFor says why an invitation has nothing to give to a user; "" where it has.
func nothingFor(offered links.Accepted, dataspace string) string {
	const unused = " The invitation is not used by this, and somebody else can have it."
	name := offered.User.Username
	switch {
	case offered.Used:
		return ""
	case dataspace == "":
		return fmt.Sprintf("You have an account already: you are signed in as %s.", name) + unused
	case offered.User.Sysadmin:
		return fmt.Sprintf("You are signed in as %s, a sysadmin, who may do all of that already.", name) + unused
	}
	return fmt.Sprintf("You are signed in as %s, and are %s in %s already.", name, offered.Role, dataspace) + unused
}

// startOf is the page to begin with.
func (a visitRoutes) startOf(accepted links.Accepted) string {
	if id := idText(accepted.DataspaceID); id != "" {
		return a.hosts.Prefix() + "/dataspaces/" + id
	}
	return a.hosts.Prefix() + "/"
}

// invitationFields reads what is sent to accept an invitation, and whom the page took for signed
// in.
func invitationFields(w http.ResponseWriter, r *exchange.Request) (fields core.Fields, as string, err error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), formType) {
		fields, err = body.Fields(w, r.Request)
		if errors.Is(err, body.ErrEmpty) {
			err = nil
		}
		return fields, "", err
	}
	if err := readForm(w, r); err != nil {
		return nil, "", err
	}
	fields = core.Fields{}
	for name := range r.PostForm {
		if value := strings.TrimSpace(r.PostForm.Get(name)); value != "" && name != "as" {
			fields[name] = value
		}
	}
	return fields, r.PostForm.Get("as"), nil
}

// acceptInvitation makes a user, with a session in a browser; or gives the role to the user who is
// signed in, or sends a key.
func (a visitRoutes) acceptInvitation(w http.ResponseWriter, r *exchange.Request, v visitor, visit links.LinkView) error {
	if a.auth.CrossOrigin(r.Request) {
		return authentication.ErrCrossOrigin
	}
	caller := a.guestOf(w, r, v)
	fields, as, err := invitationFields(w, r)
	if err != nil {
		return err
	}
	accepted, err := a.accept(r, v, caller, as, fields)
	if known, ok := errors.AsType[*errs.Error](err); ok && wantsPage(r.Request) && known.Kind != errs.Gone {
		username, _ := fields["username"].(string)
		fullname, _ := fields["fullname"].(string)
		return a.showInvitation(w, r, v, visit, &refusedInvitation{known, username, fullname})
	}
	if err != nil {
		return err
	}
	return a.sendAccepted(w, r, v, visit, accepted)
}

// accept decides whether a new user or one who is there accepts an invitation. That a user is made
// and that one who is there joins are never taken for each other.
func (a visitRoutes) accept(r *exchange.Request, v visitor, caller *auth.Principal, as string, fields core.Fields) (links.Accepted, error) {
	switch {
	case caller == nil && as != "", caller != nil && as != "" && as != caller.Username:
		return links.Accepted{}, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: "as", Message: fmt.Sprintf("%s is not signed in here any more", core.Shorten(as))}
	case caller == nil:
		return a.repo.Visitors.Accept(r.Context(), v.Visitor, fields, wantsPage(r.Request))
	case len(fields) > 0:
		field := slices.Min(slices.Collect(maps.Keys(fields)))
		return links.Accepted{}, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: core.Shorten(field), Message: fmt.Sprintf("you are %s already, and join as that: leave %s out", caller.Username, core.Shorten(field))}
	}
	return a.repo.Visitors.Join(r.Context(), v.Visitor, *caller)
}

// sendAccepted answers that an invitation is accepted, with the only copy of the key.
func (a visitRoutes) sendAccepted(w http.ResponseWriter, r *exchange.Request, v visitor, visit links.LinkView, accepted links.Accepted) error {
	status := http.StatusOK
	if accepted.Key != "" {
		status = http.StatusCreated
	}
	if !wantsPage(r.Request) {
		presenter := a.presenter(r)
		presenter.caller.UserID = accepted.User.ID
		shown := wire.Accepted{
			User: presenter.user(accepted.User), Key: accepted.Key, DataspaceID: idText(accepted.DataspaceID), Role: accepted.Role.String(), Used: accepted.Used,
		}
		if accepted.Key != "" {
			w.Header().Set("Location", shown.User.URL)
		}
		exchange.WriteJSON(w, status, shown)
		return nil
	}
	if !accepted.Used {
		return a.showInvitation(w, r, v, visit, nil)
	}
	if accepted.Session != "" {
		a.auth.SetSession(w, r.Request, accepted.Session, accepted.Ends)
	}
	page := visits.Accepted{
		Frame:     a.visitFrame("Welcome, " + cmp.Or(accepted.User.Fullname, accepted.User.Username)),
		Dataspace: visit.Title, Role: accepted.Role.String(), Key: accepted.Key, Start: a.startOf(accepted), Service: a.hosts.Site(r.Request),
	}
	return a.writeVisit(w, status, func(to io.Writer) error { return visits.WriteAccepted(to, page) })
}
