package reference

import (
	"context"
	"fmt"
	"strings"

	"labshelf/client"
)

// FindUser returns the user that ref names: by id, by URL, or by name without regard to case.
// Deleted users are included; "me" is the caller.
func FindUser(ctx context.Context, c *client.Client, ref string) (client.User, error) {
	if ref == client.Me {
		return c.Users.Me(ctx)
	}
	read := reader[client.User]{userKind, c.Users.Get, func(u client.User) string { return u.URL }}
	if u, found, err := read.byID(ctx, c, ref); found || err != nil {
		return u, err
	}
	for u, err := range c.Users.List(ctx, client.ListOptions{State: client.All, Limit: PageSize}) {
		if err != nil || strings.EqualFold(u.Username, ref) {
			return u, err
		}
	}
	return client.User{}, fmt.Errorf("there is no user %q; \"labshelf user ls\" lists them", ref)
}

// UserID returns the id of a user as FindUser does. It does not look up the caller.
func UserID(ctx context.Context, c *client.Client, user string) (string, error) {
	if user == client.Me {
		return client.Me, nil
	}
	u, err := FindUser(ctx, c, user)
	return u.ID, err
}
