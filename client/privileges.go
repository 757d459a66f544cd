package client

import (
	"context"
	"iter"
	"net/http"
)

// Privileges are the calls about roles in dataspaces.
type Privileges struct{ c *caller }

// List lists the caller's own privileges and those in dataspaces where the caller has a role; for
// sysadmins all. They are sorted by creation. It takes UserID, DataspaceID, State and Limit.
func (s Privileges) List(ctx context.Context, o ListOptions) iter.Seq2[Privilege, error] {
	return list[Privilege](ctx, s.c, o, "privileges")
}

// Get reads a privilege.
func (s Privileges) Get(ctx context.Context, id string, when ...Condition) (Privilege, error) {
	return one[Privilege](ctx, s.c, request{method: http.MethodGet, path: at("privileges", id)}.under(when))
}

// Grant gives a user a role in a dataspace, instead of the previous one.
func (s Privileges) Grant(ctx context.Context, p NewPrivilege) (Privilege, error) {
	return one[Privilege](ctx, s.c, request{method: http.MethodPost, path: at("privileges"), in: p})
}

// Revoke revokes a privilege; its record stays, as Deleted. A privilege that is already revoked is
// not an error.
func (s Privileges) Revoke(ctx context.Context, id string, when ...Condition) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("privileges", id)}.under(when))
}
