package auth_test

import (
	"strings"
	"testing"

	"labshelf/auth"
)

func TestRolesPermitExactlyTheirActions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		role                auth.Role
		read, write, manage bool
	}{
		{auth.None, false, false, false},
		{auth.Member, true, false, false},
		{auth.Editor, true, true, false},
		{auth.Admin, true, true, true},
		{auth.Role(200), false, false, false},
	} {
		for action, want := range map[auth.Action]bool{auth.Read: tc.read, auth.Write: tc.write, auth.Manage: tc.manage} {
			if got := tc.role.Allows(action); got != want {
				t.Errorf("%v allows %b = %v, want %v", tc.role, action, got, want)
			}
		}
	}
}

func TestRoleNamesRoundTrip(t *testing.T) {
	t.Parallel()
	for _, role := range []auth.Role{auth.Member, auth.Editor, auth.Admin} {
		if got, ok := auth.ParseRole(role.String()); !ok || got != role {
			t.Errorf("ParseRole(%q) = %v, %v", role.String(), got, ok)
		}
	}
	for _, name := range []string{"", "Admin", "sysadmin", "owner"} {
		if got, ok := auth.ParseRole(name); ok {
			t.Errorf("ParseRole(%q) = %v, want none", name, got)
		}
	}
}

func TestNewKeyForm(t *testing.T) {
	t.Parallel()
	one, other := auth.NewKey(), auth.NewKey()
	if one == other {
		t.Fatal("two keys are equal")
	}
	body, ok := strings.CutPrefix(one, auth.KeyPrefix)
	if !ok || len(body) != 43 {
		t.Errorf("key %q: want %q and 43 further characters", one, auth.KeyPrefix)
	}
	if !auth.ValidChosenKey(one) {
		t.Errorf("a generated key would not be accepted as a chosen key")
	}
	if got := auth.ShownPrefix(one); got != one[:8] {
		t.Errorf("shown prefix %q of %q", got, one)
	}
}

func TestChosenKeys(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		strings.Repeat("x", 32):        true,
		strings.Repeat("x", 31):        false,
		strings.Repeat("x", 31) + " ":  false,
		strings.Repeat("x", 31) + "\n": false,
		strings.Repeat("x", 31) + "ä":  false,
		strings.Repeat("~!", 16):       true,
		"":                             false,
		strings.Repeat("x", 15) + "\x7f" + strings.Repeat("x", 16): false,
	} {
		if got := auth.ValidChosenKey(key); got != want {
			t.Errorf("ValidChosenKey(%q) = %v, want %v", key, got, want)
		}
	}
}

func TestFromHeader(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"":                "",
		"lsk_abc":         "lsk_abc",
		"  lsk_abc ":      "lsk_abc",
		"Bearer lsk_abc":  "lsk_abc",
		"bearer  lsk_abc": "lsk_abc",
		"Bearer":          "",
		"Bearer ":         "",
		"Bearerlsk_abc":   "Bearerlsk_abc",
		"Basic dXNlcg==":  "Basic dXNlcg==",
	} {
		if got := auth.FromHeader(value); got != want {
			t.Errorf("FromHeader(%q) = %q, want %q", value, got, want)
		}
	}
}
