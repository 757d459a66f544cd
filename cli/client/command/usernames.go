package command

import (
	"context"

	"labshelf/client"
)

// UserNames maps ids of users to users.
type UserNames struct {
	Client *client.Client
	Names  map[string]string
}

// Name returns the name of a user, or the id if the user cannot be read.
func (w UserNames) Name(ctx context.Context, id string) string {
	if name, known := w.Names[id]; known {
		return name
	}
	w.Names[id] = id
	if user, err := w.Client.Users.Get(ctx, id); err == nil {
		w.Names[id] = user.Username
	}
	return w.Names[id]
}
