package browser

import (
	"errors"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The dialog that shows a new key is closed only by its button.
func TestNewKeyDialogStaysOpen(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signedIn(t, s.Key(), "/account")
	v.press("New key")
	v.fill("Label", "microscope")
	v.submit()
	v.sees("It is shown only once")
	v.do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape), chromedp.MouseClickXY(5, 5))
	v.sees("It is shown only once")
	v.press("I have stored it")
	v.seesNot("It is shown only once")
}

// The dialog of a new key names the user of the key, not its creator.
func TestNewKeyNamesItsUser(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signedIn(t, s.Key(), "/users")
	v.press("New user")
	v.fill("Username", "mary")
	v.submit()
	v.sees("New key of mary", "anyone who has it has the access of mary")
	v.shot("key-of-another")
	v.press("I have stored it")
	v.press("Change mary")
	v.press("New key")
	v.press("Create key")
	v.sees("New key of mary", "anyone who has it has the access of mary")
	v.press("I have stored it")
	v.do(chromedp.KeyEvent(kb.Escape))
	v.until(`!document.querySelector("dialog")`)
	v.press("Change admin")
	v.press("New key")
	v.press("Create key")
	v.sees("Your new key", "anyone who has it has your access")
}

// An expired key is listed as expired, without a button that revokes it.
func TestExpiredKey(t *testing.T) {
	t.Parallel()
	s := open(t)
	end := time.Now().Add(3 * time.Second)
	s.call(t, "POST", "/users/me/keys", map[string]string{"label": "visitor", "expires": end.UTC().Format(time.RFC3339Nano)})
	v := s.signedIn(t, s.Key(), "/")
	v.waitFor(func() error {
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
	v.at("/account")
	v.until(`[...document.querySelectorAll("tr")].some((row) => /^visitor expired/.test(row.innerText) && !row.querySelector("button"))`)
}
