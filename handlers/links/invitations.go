package links

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
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/handlers/wire"
	"labshelf/repository/core"
	"labshelf/repository/links"
)

// admitGuest returns the user of a request below the address of a link. A request without a user
// counts as anonymous. A key must be valid, an ended session counts as no session, and HTTP Basic
// holds the password of a link.
func (l *Links) admitGuest(w http.ResponseWriter, r *exchange.Request, basic bool) (*auth.Principal, error) {
	if basic || !authentication.HasCredentials(r.Request) {
		return nil, l.auth.CountAnonymous(w.Header(), r.Request)
	}
	answer := http.Header{}
	caller, err := l.auth.Authenticate(answer, l.auth.Origin(w, r.Request), r.Request)
	if err == nil {
		return &caller, nil
	}
	isNone := []errs.Code{errs.CodeUnauthenticated, errs.CodeTooManyFailures, authentication.ErrCrossOrigin.Code}
	if len(r.Header.Values("Authorization")) == 0 && slices.Contains(isNone, exchange.PublicError(err).Code) {
		return nil, l.auth.CountAnonymous(w.Header(), r.Request)
	}
	maps.Copy(w.Header(), answer)
	return nil, err
}

// guestOf returns the user of a request for an invitation, and records the user for the log. It
// returns nil for unknown senders.
func (l *Links) guestOf(w http.ResponseWriter, r *exchange.Request, v visitor) *auth.Principal {
	if v.guest == nil {
		return nil
	}
	exchange.NoteCaller(w, *v.guest)
	return v.guest
}

// refusedInvitation is the reason why an invitation was not accepted, and the values that were
// entered.
type refusedInvitation struct {
	*errs.Error
	username, fullname string
}

// showInvitation answers with the page of an invitation for the signed-in user of this browser. If
// refused is not nil, the form is shown again.
func (l *Links) showInvitation(w http.ResponseWriter, r *exchange.Request, v visitor, visit links.LinkView, refused *refusedInvitation) error {
	if !wantsPage(r.Request) {
		exchange.WriteJSON(w, http.StatusOK, wire.Invited{
			Kind: visit.Kind.String(), From: visit.Owner, Dataspace: visit.Title, Role: visit.Role.String(), Expires: expiresText(visit.Expires, time.RFC3339),
		})
		return nil
	}
	// The Referrer-Policy lets the browser send the origin of the form, without its address.
	// Otherwise a request over plain HTTP has no origin.
	w.Header().Set("Referrer-Policy", "strict-origin")
	caller := l.guestOf(w, r, v)
	title := visit.Owner + " invites you"
	if caller == nil && r.Method != http.MethodPost && r.URL.RawQuery == "" && r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		again := problemPage{frame: l.frame(title), Address: l.hosts.Link(r.Request, v.Token) + "?again"} // at most once, whatever the browser sends next
		return l.write(w, http.StatusOK, func(to io.Writer) error { return writeAgain(to, again) })
	}
	page := invitationPage{
		frame: l.frame(title), Dataspace: visit.Title, Role: visit.Role.String(), Expires: expiresText(visit.Expires, time.DateOnly),
		SignIn: l.hosts.Prefix() + "/signin", Start: l.hosts.Prefix() + "/",
	}
	if caller != nil {
		offered, err := l.repo.Visitors.Offered(r.Context(), v.Visitor, *caller)
		if err != nil {
			return err
		}
		page.As, page.Nothing = caller.Username, nothingFor(offered, visit.Title)
		page.Start = l.startOf(offered)
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
	return l.write(w, status, func(to io.Writer) error { return writeInvitation(to, page) })
}

// nothingFor returns the reason why an invitation is of no use to a user, or "".
func nothingFor(offered links.Accepted, dataspace string) string {
	const unused = " The invitation stays unused: somebody else can still accept it."
	name := offered.User.Username
	switch {
	case offered.Used:
		return ""
	case dataspace == "":
		return fmt.Sprintf("You already have an account: you are signed in as %s.", name) + unused
	case offered.User.Sysadmin:
		return fmt.Sprintf("You are signed in as %s, a sysadmin, and already have these permissions.", name) + unused
	}
	return fmt.Sprintf("You are signed in as %s, and are already %s in %s.", name, offered.Role, dataspace) + unused
}

// startOf returns the address of the first page for the user.
func (l *Links) startOf(accepted links.Accepted) string {
	if id := encode.OptionalID(accepted.DataspaceID); id != "" {
		return l.hosts.Prefix() + "/dataspaces/" + id
	}
	return l.hosts.Prefix() + "/"
}

// invitationFields reads the fields of an acceptance, and the user that the page showed as signed
// in.
func invitationFields(w http.ResponseWriter, r *exchange.Request) (fields input.Object, as string, err error) {
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
	fields = input.Object{}
	for name := range r.PostForm {
		if value := strings.TrimSpace(r.PostForm.Get(name)); value != "" && name != "as" {
			fields[name] = value
		}
	}
	return fields, r.PostForm.Get("as"), nil
}

// acceptInvitation creates a user and a session, gives the role to the signed-in user, or sends a
// key.
func (l *Links) acceptInvitation(w http.ResponseWriter, r *exchange.Request, v visitor, visit links.LinkView) error {
	if l.auth.CrossOrigin(r.Request) {
		return authentication.ErrCrossOrigin
	}
	caller := l.guestOf(w, r, v)
	fields, as, err := invitationFields(w, r)
	if err != nil {
		return err
	}
	accepted, err := l.accept(r, v, caller, as, fields)
	if known, ok := errors.AsType[*errs.Error](err); ok && wantsPage(r.Request) && known.Kind != errs.Gone {
		username, _ := fields["username"].(string)
		fullname, _ := fields["fullname"].(string)
		return l.showInvitation(w, r, v, visit, &refusedInvitation{known, username, fullname})
	}
	if err != nil {
		return err
	}
	return l.sendAccepted(w, r, v, visit, accepted)
}

// accept decides whether a new user or an existing one accepts an invitation. It never confuses the
// creation of a user with the joining of an existing one.
func (l *Links) accept(r *exchange.Request, v visitor, caller *auth.Principal, as string, fields input.Object) (links.Accepted, error) {
	switch {
	case caller == nil && as != "", caller != nil && as != "" && as != caller.Username:
		return links.Accepted{}, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: "as", Message: fmt.Sprintf("%s is no longer signed in here", core.Shorten(as))}
	case caller == nil:
		return l.repo.Visitors.Accept(r.Context(), v.Visitor, input.Account(fields), wantsPage(r.Request))
	case len(fields) > 0:
		field := slices.Min(slices.Collect(maps.Keys(fields)))
		return links.Accepted{}, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: core.Shorten(field), Message: fmt.Sprintf("you are signed in as %s, and join with that account: omit %s", caller.Username, core.Shorten(field))}
	}
	return l.repo.Visitors.Join(r.Context(), v.Visitor, *caller)
}

// sendAccepted answers that an invitation was accepted. A new key is shown only here.
func (l *Links) sendAccepted(w http.ResponseWriter, r *exchange.Request, v visitor, visit links.LinkView, accepted links.Accepted) error {
	status := http.StatusOK
	if accepted.Key != "" {
		status = http.StatusCreated
	}
	if !wantsPage(r.Request) {
		shown := wire.Accepted{
			User: encode.User(l.hosts.Base(r.Request), accepted.User, true), Key: accepted.Key, DataspaceID: encode.OptionalID(accepted.DataspaceID), Role: accepted.Role.String(), Used: accepted.Used,
		}
		if accepted.Key != "" {
			w.Header().Set("Location", shown.User.URL)
		}
		exchange.WriteJSON(w, status, shown)
		return nil
	}
	if !accepted.Used {
		return l.showInvitation(w, r, v, visit, nil)
	}
	if accepted.Session != "" {
		l.auth.SetSession(w, r.Request, accepted.Session, accepted.Ends)
	}
	page := acceptedPage{
		frame:     l.frame("Welcome, " + cmp.Or(accepted.User.Fullname, accepted.User.Username)),
		Dataspace: visit.Title, Role: accepted.Role.String(), Key: accepted.Key, Start: l.startOf(accepted), Service: l.hosts.Site(r.Request),
	}
	return l.write(w, status, func(to io.Writer) error { return writeAccepted(to, page) })
}
