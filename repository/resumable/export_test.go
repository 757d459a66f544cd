package resumable

import "context"

// CheckpointEvery sets the number of bytes between two checkpoints.
func (u *Uploads) CheckpointEvery(bytes int64) { u.checkpoint = bytes }

// Expire removes expired uploads, as the service does periodically.
func (u *Uploads) Expire(ctx context.Context) error { return u.expire(ctx) }
