package browser

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/network"
)

// A page recovers by itself when the service restarts.
func TestServiceRestarts(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	s.put(t, sid, "a.txt")
	v := s.signedIn(t, s.Key(), "/dataspaces/"+did, "ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET")
	v.sees("Runs of 2026")
	s.Kill()
	v.follow("Runs of 2026")
	v.sees("cannot be reached")
	v.shot("unreachable")
	s.restart(t)
	v.sees("a.txt") // without a click
	v.isAt("/sets/" + sid)
}

// Pages whose script has not been loaded, and lists, recover as well.
func TestPagesRecover(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	s.put(t, sid, "a.txt")
	v := s.signedIn(t, s.Key(), "/dataspaces/"+did, "ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_SOCKET_NOT_CONNECTED", "ERR_CONNECTION_CLOSED")
	v.sees("Runs of 2026")
	s.Kill()
	v.follow("Trash")
	v.sees("This page could not be loaded")
	s.restart(t)
	v.sees("No files in the trash")
	v.at("/dataspaces/" + did)
	v.sees("Runs of 2026")
	s.Kill()
	v.follow("Files of all sets")
	v.sees("cannot be reached")
	s.restart(t)
	v.sees("a.txt")
}

// A page whose script is gone while the service answers, as after an upgrade, is reloaded once.
func TestScriptGone(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signedIn(t, s.Key(), "/", "status of 404")
	v.sees("Dataspaces")
	script := ""
	var refused atomic.Int32
	v.answer("*/assets/*.js", http.StatusNotFound, func(r *network.Request) bool {
		if script == "" {
			script = r.URL
		}
		if r.URL != script || refused.Load() == 2 {
			return false
		}
		refused.Add(1)
		return true
	})
	v.follow("Trash")
	v.until(`performance.getEntriesByType("navigation")[0].type === "reload"`)
	v.sees("This page could not be loaded")
	v.press("Try again")
	v.sees("No files in the trash")
	if n := refused.Load(); n != 2 {
		t.Errorf("the script was refused %d times", n)
	}
}

// A window that is shown again refreshes its lists and records.
func TestWindowRefreshesWhenShown(t *testing.T) {
	t.Parallel()
	s := open(t).inTabs(t)
	did, sid := s.makeSet(t)
	ids := s.put(t, sid, "a.txt", "b.txt")
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
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
	other.hasRole("mary", "editor")
}

// While the service is unreachable, a window keeps its content and unsaved input.
func TestWindowKeepsContentWhileUnreachable(t *testing.T) {
	t.Parallel()
	s := open(t).inTabs(t)
	_, sid := s.makeSet(t)
	s.put(t, sid, "a.txt")
	v := s.signedIn(t, s.Key(), "/sets/"+sid, "ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_SOCKET_NOT_CONNECTED", "ERR_CONNECTION_CLOSED")
	v.sees("a.txt")
	v.menu("Edit")
	v.types("title", "typed before it went")
	v.window("/docs")
	s.Kill()
	v.front()
	v.sees("cannot be reached")
	v.until(`document.querySelector("dialog [name=title]").value === "typed before it went"`)
	s.restart(t)
	v.seesNot("cannot be reached")
	v.submit()
	v.until(`!document.querySelector("dialog") && document.querySelector("h1").innerText.trim() === "typed before it went"`)
}
