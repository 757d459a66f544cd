package browser

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e"
)

// again starts the service that was stopped or killed, over the same data and at the same address.
func (s *site) again(t *testing.T, flags ...string) {
	t.Helper()
	address := strings.TrimPrefix(s.origin, "http://")
	service, err := e2e.Start(context.WithoutCancel(t.Context()), program, s.data, append(flags, "--listen", address)...)
	if err != nil {
		t.Fatal(err)
	}
	s.Service = service
}

// person is a user with a key.
type person struct{ id, username, key, keyID string }

// person makes a user; with a role, unless it is "", in a dataspace.
func (s *site) person(t *testing.T, username, role, dataspaceID string) person {
	t.Helper()
	p := person{username: username}
	var made struct{ ID, Key string }
	id, err := s.Make(t.Context(), "/users", map[string]string{"username": username})
	if err == nil {
		err = s.Call(t.Context(), "POST", "/users/"+id+"/keys", map[string]string{"label": "browser"}, &made)
	}
	if err == nil && role != "" {
		err = s.Call(t.Context(), "POST", "/privileges", map[string]string{"userId": id, "dataspaceId": dataspaceID, "role": role}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.id, p.key, p.keyID = id, made.Key, made.ID
	return p
}

// revoke takes a person's key away.
func (s *site) revoke(t *testing.T, p person) {
	t.Helper()
	if err := s.Call(t.Context(), "DELETE", "/users/"+p.id+"/keys/"+p.keyID, nil, nil); err != nil {
		t.Fatal(err)
	}
}

// place makes a dataspace and a set in it.
func (s *site) place(t *testing.T) (dataspaceID, setID string) {
	t.Helper()
	dataspaceID, err := s.Make(t.Context(), "/dataspaces", map[string]string{"name": "lab-one", "title": "Laser lab"})
	if err == nil {
		setID, err = s.Make(t.Context(), "/sets", map[string]string{"name": "runs", "title": "Runs of 2026", "dataspaceId": dataspaceID})
	}
	if err != nil {
		t.Fatal(err)
	}
	return dataspaceID, setID
}

// put uploads files of a few bytes, each with its name as its content.
func (s *site) put(t *testing.T, setID string, names ...string) (ids []string) {
	t.Helper()
	for _, name := range names {
		r, err := s.Upload(t.Context(), "POST", "/resources",
			e2e.File{SetID: setID, Name: name, Filename: "file.txt", Body: strings.NewReader(name), Size: int64(len(name))})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	return ids
}

// isAt waits until the address is this path, with its query.
func (v *visitor) isAt(path string) {
	v.t.Helper()
	v.until(`location.pathname + location.search === ` + strconv.Quote(path))
}

// A visitor who follows a deep link without being signed in comes back to it, with what it asks for.
func TestSignInAndOut(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.place(t)
	s.put(t, sid, "a.txt", "b.txt")
	v := s.visit(t)
	deep := "/sets/" + sid + "?prefix=b"
	v.at(deep)
	v.sees("You will come back to it")
	v.signIn(s.Key())
	v.isAt(deep)
	v.sees("b.txt", "1 file")
	v.seesNot("a.txt")
	v.follow("Laser lab")
	v.isAt("/dataspaces/" + did)
	v.press("Sign out")
	v.sees("Your API key")
	v.do(chromedp.Evaluate[chromedp.Void]("void history.back()"))
	v.isAt("/dataspaces/" + did)
	v.sees("Your API key")
	v.seesNot("Laser lab")
	v.at("/dataspaces/" + did)
	v.sees("Your API key")
	v.seesNot("Laser lab")
}

// The parameter that says where to go after signing in leads to no other site.
func TestSignInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, to := range []string{"//elsewhere.example/", `/\elsewhere.example`, "https://elsewhere.example/", "javascript:window.__hacked=1"} {
		v := s.visit(t)
		v.at("/signin?to=" + url.QueryEscape(to))
		v.signIn(s.Key())
		v.isAt("/")
		v.until("window.__hacked === undefined")
	}
}

func TestWrongKeyIsRefused(t *testing.T) {
	t.Parallel()
	v := open(t).visit(t)
	v.at("/")
	v.fill("Your API key", "lsk_wrong")
	v.press("Sign in")
	v.until(`document.querySelector("[role=alert]:not(:empty)") !== null`)
	v.sees("Sign in")
	v.seesNot("Sign out")
}

// Whose key is revoked is told at the next step, and goes on from there with another one.
func TestSessionEndsWithItsKey(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.place(t)
	mary := s.person(t, "mary", "member", did)
	v := s.visit(t)
	v.at("/dataspaces/" + did)
	v.signIn(mary.key)
	v.sees("Runs of 2026")
	s.revoke(t, mary)
	v.follow("Runs of 2026")
	v.sees("Your session has ended")
	v.signIn(s.Key())
	v.isAt("/sets/" + sid)
	v.sees("This set is empty")
}

// A service that is gone for a while is no reason to lose one's place.
func TestServiceComesBack(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.place(t)
	s.put(t, sid, "a.txt")
	v := s.visit(t)
	v.expect("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET")
	v.at("/dataspaces/" + did)
	v.signIn(s.Key())
	v.sees("Runs of 2026")
	s.Kill()
	v.follow("Runs of 2026")
	v.sees("cannot be reached")
	v.shot("unreachable")
	s.again(t)
	v.sees("a.txt") // by itself
	v.isAt("/sets/" + sid)
}

// So it is for a page whose script is still to be fetched, for a list, and for a window that is opened meanwhile.
func TestPagesComeBack(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.place(t)
	s.put(t, sid, "a.txt")
	v := s.visit(t)
	v.expect("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_SOCKET_NOT_CONNECTED", "ERR_CONNECTION_CLOSED")
	v.at("/dataspaces/" + did)
	v.signIn(s.Key())
	v.sees("Runs of 2026")
	s.Kill()
	v.follow("Trash")
	v.sees("This page could not be fetched")
	s.again(t)
	v.sees("No file is in the trash")
	v.at("/dataspaces/" + did)
	v.sees("Runs of 2026")
	s.Kill()
	v.follow("Files of all sets")
	v.sees("cannot be reached")
	s.again(t)
	v.sees("a.txt")
}

// A window that is looked at again shows what others have done since, without a word, also to the record itself.
func TestWindowFollows(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.place(t)
	ids := s.put(t, sid, "a.txt", "b.txt")
	v := s.visit(t)
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.lists("a.txt", "b.txt")
	other := v.window("/dataspaces/" + did)
	other.sees("Runs of 2026")
	s.put(t, sid, "c.txt")
	s.call(t, "DELETE", "/resources/"+ids[0], nil)
	s.call(t, "PUT", "/sets/"+sid, map[string]string{"title": "Runs of 2027"})
	v.front()
	v.lists("b.txt", "c.txt")
	v.sees("Runs of 2027")
	other.front()
	other.sees("Runs of 2027")
	other.at("/dataspaces/" + did + "/members")
	other.sees("Members")
	v.front()
	s.person(t, "mary", "editor", did)
	other.front()
	other.is("mary", "editor")
}

// What a window shows stays where it cannot be brought up to date.
func TestWindowKeepsWhatItShows(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	s.put(t, sid, "a.txt")
	v := s.visit(t)
	v.expect("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_SOCKET_NOT_CONNECTED", "ERR_CONNECTION_CLOSED")
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.sees("a.txt")
	v.press("Edit")
	v.types("title", "typed before it went")
	v.window("/docs")
	s.Kill()
	v.front()
	v.sees("cannot be reached")
	v.until(`document.querySelector("dialog [name=title]").value === "typed before it went"`)
	s.again(t)
	v.seesNot("cannot be reached")
	v.submit()
	v.until(`!document.querySelector("dialog") && document.querySelector("h1").innerText.trim() === "typed before it went"`)
}

// An address that leads nowhere, or is not well written, says so.
func TestNoSuchPage(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.visit(t)
	v.expect("status of 404")
	v.at("/")
	v.signIn(s.Key())
	v.sees("There is no dataspace for you yet")
	v.at("/no/such/page")
	v.sees("There is no such page")
	v.at("/sets/%25")
	v.sees("never have existed")
}

// Who goes by keys alone: the focus follows to a new page, into a dialog, and back to where it was.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.place(t)
	names := make([]string, 30)
	for i := range names {
		names[i] = fmt.Sprintf("file-%02d.txt", i)
	}
	s.put(t, sid, names...)
	v := s.visit(t)
	v.at("/dataspaces/" + did)
	v.signIn(s.Key())
	v.sees("Runs of 2026")
	v.do(chromedp.Focus(xpath("button", "New set")), chromedp.KeyEvent(kb.Enter))
	v.until(`document.activeElement.name === "name"`)
	v.do(chromedp.KeyEvent(kb.Escape))
	v.until(`document.activeElement.innerText === "New set"`)
	v.do(chromedp.Focus(xpath("a", "Runs of 2026")), chromedp.KeyEvent(kb.Enter))
	v.until(`document.activeElement.id === "main"`)
	v.sees("file-00.txt")
	v.do(chromedp.Focus(xpath("a", "file-00.txt")), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	v.until(`document.activeElement.innerText.trim() === "file-02.txt"`)
	v.do(chromedp.KeyEvent(kb.End))
	v.until(`document.activeElement.innerText.trim() === "file-29.txt"`)
	v.until(`document.activeElement.getBoundingClientRect().bottom <= innerHeight`)
	v.do(chromedp.KeyEvent(kb.PageUp), chromedp.KeyEvent(kb.Home))
	v.until(`document.activeElement.innerText.trim() === "file-00.txt"`)
	v.do(chromedp.KeyEvent(kb.Enter))
	v.sees("SHA-256")
}

// fileLimit bounds how far the service may write into files from now on, in bytes or "unlimited": a disk that is full.
func (s *site) fileLimit(t *testing.T, limit string) {
	t.Helper()
	if output, err := exec.Command("prlimit", "--pid", strconv.Itoa(s.PID()), "--fsize="+limit+":unlimited").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("prlimit: %v: %s", err, output)
		}
		t.Skipf("only Linux bounds the files of another process: %v: %s", err, output)
	}
}

// Whose session cannot be ended, since the service cannot write, is signed out of the browser, and told what is left of it.
func TestSignOutOfAFullService(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.place(t)
	v := s.visit(t)
	v.expect("status of 507")
	v.at("/")
	v.signIn(s.Key())
	v.sees("Laser lab")
	other := v.tab()
	other.at("/")
	other.sees("Laser lab")
	v.front()
	s.fileLimit(t, "1")
	v.press("Sign out")
	v.sees("could not end your session: no space is left", "have the key revoked", "Your API key")
	v.shot("signed-out-of-a-full-service")
	v.seesNot("Laser lab")
	other.sees("Your session has ended")
	s.fileLimit(t, "unlimited")
	v.signIn(s.Key())
	v.sees("Laser lab")
	v.press("Sign out")
	v.sees("Your API key")
	v.seesNot("could not end your session")
}

// A visitor that signs out of a service that cannot be reached is told that they are still signed in, and what to do.
func TestSignOutThatFails(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.place(t)
	v := s.visit(t)
	v.expect("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET")
	v.at("/")
	v.signIn(s.Key())
	v.sees("Laser lab")
	s.Kill()
	v.press("Sign out")
	v.sees("You are still signed in", "cannot be reached", "delete the cookies of this site")
	v.shot("still-signed-in")
	v.press("Stay signed in")
	v.seesNot("You are still signed in")
	v.press("Sign out")
	v.sees("You are still signed in")
	s.again(t)
	v.press("Try again")
	v.sees("Your API key")
	v.seesNot("Laser lab")
}
