package resumable

import "context"

// CheckpointEvery changes how many bytes come between two checkpoints.
func (u *Uploads) CheckpointEvery(bytes int64) { u.checkpoint = bytes }

// Expire removes what has expired, as the service does now and then.
func (u *Uploads) Expire(ctx context.Context) error { return u.expire(ctx) }
