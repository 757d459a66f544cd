package auth

import "fmt"

// Action is something that a role permits within one dataspace. Actions are bits, so that a role is
// a set of them.
type Action uint8

const (
	// Read is to see a dataspace, its sets and resources, and to download files.
	Read Action = 1 << iota
	// Write is to create, change, delete and restore sets and resources.
	Write
	// Manage is to change, delete and restore the dataspace itself and to grant and revoke roles in
	// it.
	Manage
)

// Role is what one user is in one dataspace. The zero Role permits nothing. The numbers are stored:
// they never change.
type Role uint8

// The roles, from the weakest to the strongest.
const (
	None Role = iota
	Member
	Editor
	Admin
)

// roles is the one place that says what a role is called and what it permits.
var roles = [...]struct {
	name    string
	actions Action
}{
	None:   {"", 0},
	Member: {"member", Read},
	Editor: {"editor", Read | Write},
	Admin:  {"admin", Read | Write | Manage},
}

// Allows reports whether the role permits every action in a.
func (r Role) Allows(a Action) bool {
	return int(r) < len(roles) && roles[r].actions&a == a
}

// String returns the role's name in the interface; None is the empty string.
func (r Role) String() string {
	if int(r) >= len(roles) {
		return fmt.Sprintf("role(%d)", uint8(r))
	}
	return roles[r].name
}

// ParseRole reads a role's name as the interface writes it. The empty string is no role.
func ParseRole(name string) (Role, bool) {
	for r := Member; int(r) < len(roles); r++ {
		if roles[r].name == name {
			return r, true
		}
	}
	return None, false
}
