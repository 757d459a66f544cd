package pages

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/network"

	"labshelf/verify/e2e/browser"
)

// A page recovers automatically when the service restarts.
func TestServiceRestarts(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	s.Put(t, sid, "a.txt")
	v := s.SignedIn(t, s.Key(), "/dataspaces/"+did, "ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET")
	v.Sees("Runs of 2026")
	s.Kill()
	v.Follow("Runs of 2026")
	v.Sees("cannot be reached")
	v.Shot("unreachable")
	s.Restart(t)
	v.Sees("a.txt") // without a click
	v.IsAt("/sets/" + sid)
}

// Lists and pages whose script could not be loaded also recover.
func TestPagesRecover(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	s.Put(t, sid, "a.txt")
	v := s.SignedIn(t, s.Key(), "/dataspaces/"+did, "ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_SOCKET_NOT_CONNECTED", "ERR_CONNECTION_CLOSED")
	v.Sees("Runs of 2026")
	s.Kill()
	v.Follow("Trash")
	v.Sees("This page could not be loaded")
	s.Restart(t)
	v.Sees("No files in the trash")
	v.At("/dataspaces/" + did)
	v.Sees("Runs of 2026")
	s.Kill()
	v.Follow("Files of all sets")
	v.Sees("cannot be reached")
	s.Restart(t)
	v.Sees("a.txt")
}

// A page whose script is missing while the service answers, as after an upgrade, reloads once.
func TestMissingScriptReloads(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	v := s.SignedIn(t, s.Key(), "/", "status of 404")
	v.Sees("Dataspaces")
	script := ""
	var refused atomic.Int32
	v.Answer("*/assets/*.js", http.StatusNotFound, func(r *network.Request) bool {
		if script == "" {
			script = r.URL
		}
		if r.URL != script || refused.Load() == 2 {
			return false
		}
		refused.Add(1)
		return true
	})
	v.Follow("Trash")
	v.Until(`performance.getEntriesByType("navigation")[0].type === "reload"`)
	v.Sees("This page could not be loaded")
	v.Press("Try again")
	v.Sees("No files in the trash")
	if n := refused.Load(); n != 2 {
		t.Errorf("the script was refused %d times, want 2", n)
	}
}

// A window that is shown again refreshes its lists and records.
func TestWindowRefreshesWhenShown(t *testing.T) {
	t.Parallel()
	s := browser.Open(t).InTabs(t)
	did, sid := s.NewSet(t)
	ids := s.Put(t, sid, "a.txt", "b.txt")
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Lists("a.txt", "b.txt")
	other := v.Window("/dataspaces/" + did)
	other.Sees("Runs of 2026")
	s.Put(t, sid, "c.txt")
	s.Do(t, "DELETE", "/resources/"+ids[0], nil)
	s.Do(t, "PUT", "/sets/"+sid, map[string]string{"title": "Runs of 2027"})
	v.Front()
	v.Lists("b.txt", "c.txt")
	v.Sees("Runs of 2027")
	other.Front()
	other.Sees("Runs of 2027")
	other.At("/dataspaces/" + did + "/members")
	other.Sees("Members")
	v.Front()
	s.Person(t, "mary", "editor", did)
	other.Front()
	hasRole(other, "mary", "editor")
}

// While the service is unreachable, a window keeps its content and unsaved input.
func TestWindowKeepsContentWhileUnreachable(t *testing.T) {
	t.Parallel()
	s := browser.Open(t).InTabs(t)
	_, sid := s.NewSet(t)
	s.Put(t, sid, "a.txt")
	v := s.SignedIn(t, s.Key(), "/sets/"+sid, "ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_SOCKET_NOT_CONNECTED", "ERR_CONNECTION_CLOSED")
	v.Sees("a.txt")
	menu(v, "Edit")
	v.Types("title", "typed before it went")
	v.Window("/docs")
	s.Kill()
	v.Front()
	v.Sees("cannot be reached")
	v.Until(`document.querySelector("dialog [name=title]").value === "typed before it went"`)
	s.Restart(t)
	v.SeesNot("cannot be reached")
	v.Submit()
	v.Until(`!document.querySelector("dialog") && document.querySelector("h1").innerText.trim() === "typed before it went"`)
}
