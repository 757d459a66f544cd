package commands

import (
	"context"
	"fmt"
	"strings"

	"labshelf/client"
)

// userID finds a user by id or by name, without regard to case; "" is the caller.
func userID(ctx context.Context, c *client.Client, user string) (string, error) {
	if user == "" || user == client.Me {
		return client.Me, nil
	}
	for u, err := range c.Users(ctx, client.ListOptions{State: client.All}) {
		if err != nil {
			return "", err
		}
		if u.ID == user || strings.EqualFold(u.Username, user) {
			return u.ID, nil
		}
	}
	return "", fmt.Errorf("there is no user %q; \"labshelf user ls\" lists them", user)
}
