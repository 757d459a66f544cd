package core

import (
	"context"

	"labshelf/metadata"
)

// SaveUse records the time when a key of a user was used.
func SaveUse(ctx context.Context, meta metadata.Transactions, user, key metadata.ID, at metadata.Stamp) {
	l := &lastUse{meta: meta, pending: map[metadata.ID]use{key: {user, at}}}
	l.save(ctx)
}
