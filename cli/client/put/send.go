package put

import (
	"context"

	"labshelf/client"
)

// chunkedAbove is the length in bytes above which a file is sent in chunks, as a resumable upload.
// A shorter file is sent in one request.
const chunkedAbove = 16 << 20

// send sends a file as a new resource, or, if replaces is an id, instead of the file of that
// resource.
func (u *job) send(ctx context.Context, s *source, fields client.NewResource, replaces string, when ...client.Condition) (client.Resource, error) {
	switch {
	case s.size > chunkedAbove:
		return u.sendChunks(ctx, s, fields, replaces, when...)
	case replaces != "":
		return u.client.Resources.Replace(ctx, replaces, fields, s, s.size, when...)
	}
	return u.client.Resources.Create(ctx, fields, s, s.size)
}
