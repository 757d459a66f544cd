package browser

import "testing"

// A visitor who follows a deep link without being signed in comes back to it.
func TestSignInAndOut(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.visit(t)
	v.at("/account")
	v.signIn(s.Key())
	v.until(`location.pathname === "/account"`)
	v.press("Sign out")
	v.sees("Your API key")
}

func TestWrongKeyIsRefused(t *testing.T) {
	t.Parallel()
	v := open(t).visit(t)
	v.at("/")
	v.fill("Your API key", "lsk_wrong")
	v.press("Sign in")
	v.sees("key")
	v.until(`document.querySelector("[role=alert]:not(:empty)") !== null`)
	v.sees("Sign in")
}
