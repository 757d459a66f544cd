package resumable

import "context"

// Expire removes what has expired, as the service does now and then.
func (u *Uploads) Expire(ctx context.Context) error { return u.expire(ctx) }
