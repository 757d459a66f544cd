package pages

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e"
	"labshelf/verify/e2e/browser"
)

// The dialog with a new key closes only by its button.
func TestNewKeyDialogStaysOpen(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	v := s.SignedIn(t, s.Key(), "/account")
	v.Press("New key")
	v.Fill("Label", "microscope")
	browser.Click(v, purpose("Everything I may do"))
	v.Submit()
	v.Sees("It is shown only once")
	v.Do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape), chromedp.MouseClickXY(5, 5))
	v.Sees("It is shown only once")
	v.Press("I have stored it")
	v.SeesNot("It is shown only once")
}

// The dialog with a new key names the user of the key, and not its creator.
func TestNewKeyNamesItsUser(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	v := s.SignedIn(t, s.Key(), "/users")
	v.Press("New user")
	v.Fill("Username", "mary")
	v.Submit()
	v.Sees("New key of mary", "anyone who has it has the access of mary")
	v.Shot("key-of-another")
	v.Press("I have stored it")
	v.Press("Change mary")
	v.Sees("everything")
	v.Shots("keys-of-another")
	v.Press("New key")
	browser.Click(v, purpose("Everything mary may do"))
	v.Press("Create key")
	v.Sees("New key of mary", "anyone who has it has the access of mary")
	v.Press("I have stored it")
	v.Do(chromedp.KeyEvent(kb.Escape))
	v.Until(`!document.querySelector("dialog")`)
	v.Press("Change admin")
	v.Press("New key")
	browser.Click(v, purpose("Everything I may do"))
	v.Press("Create key")
	v.Sees("Your new key", "anyone who has it has your access")
}

// purpose finds the radio button of a purpose in the dialog for a new key.
func purpose(label string) chromedp.Search {
	return chromedp.Search(fmt.Sprintf(`//label[starts-with(normalize-space(), %q)]//input[@type="radio"]`, label))
}

// A key for an instrument adds files to one set, and reads none. The dialog works with the
// keyboard, shows an error at its field, and fits into a narrow window. axe-core finds no serious
// violation.
func TestKeyForInstrument(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	s.Create(t, "/dataspaces", map[string]string{"name": "imaging", "visibility": "public"})
	script := browser.Axe(t)
	v := s.SignedIn(t, s.Person(t, "mary", "editor", did).Key, "/account", "status of 400")
	v.Do(chromedp.Focus(browser.Xpath("button", "New key")), chromedp.KeyEvent(kb.Enter))
	v.Until(`document.activeElement.matches("dialog input")`)
	v.Do(chromedp.KeyEvent("microscope"))
	v.Shots("key-new")
	v.TabTo(`e.type === "radio"`)
	v.Do(chromedp.KeyEvent(" "))
	v.Until(`document.querySelector("dialog input[type=date]").value > new Date().toISOString()`)
	v.TabTo(`e.labels?.[0].innerText === "Set"`)
	v.Until(`document.activeElement.innerText.includes("Runs of 2026")`)
	v.Do(chromedp.KeyEvent("R"))
	v.TabTo(`e.matches("textarea")`)
	v.Do(chromedp.KeyEvent("10.0.0.1/8"))
	v.Submit()
	v.Until(`document.querySelector("dialog [aria-invalid=true]")?.matches("textarea")`)
	v.Sees("write 10.0.0.0/8 for the whole network")
	v.Shots("key-instrument")
	accessible := func() {
		for _, f := range append(v.Audit(script), darkContrast(v, script)...) {
			t.Errorf("%s: %s: %s\n\t%s", f.Impact, f.ID, f.Help, f.Where)
		}
	}
	accessible()
	v.Size(360, 740)
	v.Until(`document.documentElement.scrollWidth <= innerWidth && document.querySelector("dialog").scrollWidth <= document.querySelector("dialog").clientWidth`)
	v.Size(1280, 800)
	v.Fill("Network addresses", "127.0.0.1, ::1")
	v.Submit()
	v.Sees("It is shown only once", "it adds files in the set Runs of 2026")
	v.Shot("key-instrument-made")
	instrument := e2e.NewClient(s.Origin+"/v1", browser.Get(v, chromedp.Evaluate[string](`document.querySelector(".secret code").innerText`)))
	v.Press("I have stored it")
	v.Sees("adds files in the set Runs of 2026", "only from 127.0.0.1/32, ::1/128")
	v.Shots("keys")
	accessible()
	made, err := instrument.Upload(t.Context(), "POST", "/resources", e2e.File{SetID: sid, Filename: "scan.txt", Body: strings.NewReader("scan"), Size: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/resources/" + made.ID + "/data", "/sets/" + sid + "/resources"} {
		if a, err := instrument.SendJSON(t.Context(), "GET", path, nil); err != nil || a.Status != http.StatusForbidden {
			t.Errorf("GET %s: status %d, %v; want 403", path, a.Status, err)
		}
	}
	s.Holds(t, sid, []string{"scan.txt"})
}

// The dialog that limits a key offers nothing that is wider. It lists the objects that end, and can
// keep them.
func TestLimitKey(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	mary := s.Person(t, "mary", "editor", did)
	maker := func(key, label string) string {
		var made struct{ Key string }
		if err := e2e.NewClient(s.Origin+"/v1", key).Call(t.Context(), "POST", "/users/me/keys", map[string]string{"label": label}, &made); err != nil {
			t.Fatal(err)
		}
		return made.Key
	}
	laptop := maker(mary.Key, "laptop")
	maker(maker(mary.Key, "server"), "cron")
	v := s.SignedIn(t, mary.Key, "/account")
	row := func(is string) {
		v.Until(`[...document.querySelectorAll("tr")].some((row) => ` + is + `.test(row.innerText))`)
	}
	choose := func(label, option string) { v.Do(chromedp.SendKeys(browser.Field(label), option)) }
	const ends = "Limiting it also revokes or pauses everything that was created with it:"

	v.Press("Limit laptop")
	v.Sees("The key permits everything.", "this cannot be undone", "For a wider key, create a new one.")
	v.Fill("Network addresses", "127.0.0.1, ::1")
	v.Submit()
	row(`/^laptop\s+everything\s+only from 127.0.0.1\/32, ::1\/128/`)
	maker(laptop, "phone")
	v.Press("Limit laptop")
	v.SeesNot(ends)
	choose("The key may", "read,")
	v.Sees(ends, "Key phone")
	choose("Where", "in one dataspace")
	v.Until(`document.querySelector("dialog").innerText.includes("Laser lab")`)
	v.Shots("key-limit")
	v.Submit()
	row(`/^laptop\s+reads and changes files in the dataspace Laser lab/`)
	row(`/^phone revoked/`)

	v.Press("Limit laptop")
	v.Sees("The key reads and changes files in the dataspace Laser lab.")
	offers(v, map[string]string{
		"Label": "", "The key may": "read add write", "Where": "dataspace set", "Network addresses": "", "Expires": "",
	})
	choose("The key may", "add")
	choose("Where", "in one set")
	v.Until(`document.querySelector("dialog").innerText.includes("Runs of 2026")`)
	choose("Set", "Runs")
	v.Shots("key-limit-again")
	v.Submit()
	row(`/^laptop\s+adds files in the set Runs of 2026\s+only from 127.0.0.1\/32, ::1\/128/`)
	v.Press("Limit laptop")
	v.Sees("The key adds files in the set Runs of 2026.")
	offers(v, map[string]string{"Label": "", "Network addresses": "", "Expires": ""})
	v.Fill("Network addresses", "::1")
	v.Do(chromedp.SetValue(browser.Field("Expires"), "2100-01-31"))
	v.Do(chromedp.Evaluate[chromedp.Void](`void document.querySelector("dialog input[type=date]").dispatchEvent(new Event("input", {bubbles: true}))`))
	v.Submit()
	row(`/^laptop\s+adds files in the set Runs of 2026\s+only from ::1\/128/`)
	v.Press("Limit laptop")
	v.Until(`document.querySelector("dialog input[type=date]").matches("[max='2100-01-31']:required")`)
	v.Shots("key-limit-last")
	v.Press("Cancel")

	v.Press("Limit browser")
	choose("The key may", "read,")
	v.Sees("1 browser is signed in with this key.")
	v.Press("Cancel")
	v.Press("Limit server")
	choose("Where", "in one dataspace")
	v.Sees("Key cron")
	browser.Click(v, browser.BoxOf("Keep these, and limit only the key itself"))
	v.Until(`document.querySelector("dialog input[type=checkbox]").checked`)
	v.Shots("key-limit-keep")
	v.Submit()
	row(`/^server\s+everything in the dataspace Laser lab/`)
	row(`/^cron\s+everything/`)
	v.Press("Limit server")
	v.Fill("Label", "old server")
	v.Submit()
	row(`/^old server\s+everything in the dataspace Laser lab/`)
	v.Shots("keys-limited")
}

// offers waits until the dialog has exactly these controls, and each selection these values.
func offers(v *browser.Visitor, want map[string]string) {
	v.T.Helper()
	v.WaitFor(func() error {
		got, err := browser.Run(v, chromedp.Evaluate[map[string]string](`Object.fromEntries([...document.querySelectorAll("dialog :is(input, select, textarea)")]
			.map((e) => [e.labels[0].innerText, [...e.options ?? []].map((o) => o.value).join(" ")]))`))
		if err == nil && !maps.Equal(got, want) {
			err = fmt.Errorf("the dialog offers %q; want %q", got, want)
		}
		return err
	})
}

// An expired key is listed as expired, without a button to revoke it.
func TestExpiredKey(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	end := time.Now().Add(3 * time.Second)
	s.Do(t, "POST", "/users/me/keys", map[string]string{"label": "visitor", "expires": end.UTC().Format(time.RFC3339Nano)})
	v := s.SignedIn(t, s.Key(), "/")
	v.WaitFor(func() error {
		var page struct {
			Data []struct{ Label, State string }
		}
		err := s.Call(t.Context(), "GET", "/users/me/keys", nil, &page)
		for _, key := range page.Data {
			if err == nil && key.Label == "visitor" && key.State == "active" {
				err = errors.New("the key is active")
			}
		}
		return err
	})
	v.At("/account")
	v.Until(`[...document.querySelectorAll("tr")].some((row) => /^visitor expired/.test(row.innerText) && !row.querySelector("button"))`)
}
