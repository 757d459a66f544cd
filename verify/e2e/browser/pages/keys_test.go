package pages

import (
	"errors"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// The dialog with a new key closes only by its button.
func TestNewKeyDialogStaysOpen(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	v := s.SignedIn(t, s.Key(), "/account")
	v.Press("New key")
	v.Fill("Label", "microscope")
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
	v.Press("New key")
	v.Press("Create key")
	v.Sees("New key of mary", "anyone who has it has the access of mary")
	v.Press("I have stored it")
	v.Do(chromedp.KeyEvent(kb.Escape))
	v.Until(`!document.querySelector("dialog")`)
	v.Press("Change admin")
	v.Press("New key")
	v.Press("Create key")
	v.Sees("Your new key", "anyone who has it has your access")
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
