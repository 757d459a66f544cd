package auth

import "fmt"

// Action is an operation that a role permits within one dataspace. Actions are bits, so that a role
// is a set of them.
type Action uint8

const (
	// Read permits seeing a dataspace, its sets and resources, and downloading files.
	Read Action = 1 << iota
	// Add permits creating resources in a set.
	Add
	// Write permits creating, changing, deleting and restoring sets and resources.
	Write
	// Share permits creating, changing and revoking links.
	Share
	// Manage permits changing, deleting and restoring the dataspace itself, and granting and
	// revoking roles in it.
	Manage
)

// Role is the role of one user in one dataspace. The zero Role permits nothing. The numbers are
// stored: they never change.
type Role uint8

// The roles, from the weakest to the strongest.
const (
	None Role = iota
	Member
	Editor
	Admin
)

// roles defines the names and permissions of all roles.
var roles = [...]struct {
	name    string
	actions Action
}{
	None:   {"", 0},
	Member: {"member", Read},
	Editor: {"editor", Read | Add | Write | Share},
	Admin:  {"admin", Read | Add | Write | Share | Manage},
}

// Allows reports whether the role permits every action in a.
func (r Role) Allows(a Action) bool {
	return int(r) < len(roles) && roles[r].actions&a == a
}

// String returns the role's name in the API; None is the empty string.
func (r Role) String() string {
	if int(r) >= len(roles) {
		return fmt.Sprintf("role(%d)", uint8(r))
	}
	return roles[r].name
}

// ParseRole parses the name of a role in the API. It refuses the empty string.
func ParseRole(name string) (Role, bool) {
	for r := Member; int(r) < len(roles); r++ {
		if roles[r].name == name {
			return r, true
		}
	}
	return None, false
}
