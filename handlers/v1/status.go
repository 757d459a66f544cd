package v1

import (
	"cmp"
	"errors"
	"net/http"
	"slices"

	"labshelf/blobs"
	"labshelf/handlers/internal/authentication"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/maintenance"
)

// Status serves the status of the service.
type Status struct{ *api }

// Get reports the status. Only sysadmins get the details. If no key can be checked because records
// are unreadable, the error is only logged.
func (a Status) Get(w http.ResponseWriter, r *exchange.Request) error {
	caller, err := a.auth.Authenticate(w.Header(), a.auth.Origin(w, r.Request), r.Request)
	if errors.Is(err, authentication.ErrTooManyFailures) { // otherwise keys could be guessed here
		return err
	}
	c, status := a.repo.Monitor.Condition(r.Context()), http.StatusOK
	if c.Status == maintenance.StatusFailing {
		status = http.StatusServiceUnavailable
		exchange.NoteError(w, errors.New(c.Detail.Failing))
	}
	shown := wire.Status[*wire.StatusDetail]{Status: string(c.Status), Hostname: a.config.Hostname, Node: cmp.Or(c.Node, a.config.Hostname), Engine: c.Engine, Version: a.config.Version, Anonymous: a.repo.Credentials.Anonymous()}
	if err == nil && caller.Sysadmin {
		d, scrub := c.Detail, c.Detail.Scrub
		shown.Detail = &wire.StatusDetail{
			Failing: d.Failing, ReadOnly: d.ReadOnly, ClockBehind: d.ClockBehind.Milliseconds(), Damaged: d.Damaged,
			Scrub:      wire.Scrub{Begun: encode.Time(scrub.Begun), Checked: scrub.Checked, Found: scrub.Found, Passes: scrub.Passes},
			Background: d.Background, Held: wire.FileCount{Files: d.Inline.Bodies, Bytes: d.Inline.Bytes}, Started: encode.Time(a.started),
			Identity: d.Identity.String(), Epoch: wire.RepositoryEpoch{ID: d.Epoch.ID.String(), Base: encode.Time(d.Epoch.Base), Began: encode.Time(d.Epoch.Began)},
			Unreferenced: wire.FileCount{Files: d.Unreferenced.Blobs, Bytes: d.Unreferenced.Bytes}, Room: roomOf(d.Room), Nodes: nodesOf(d.Nodes),
		}
	}
	exchange.WriteJSON(w, status, shown)
	return nil
}

func nodesOf(all []metadata.Node) []wire.Node {
	shown := []wire.Node{}
	for _, n := range slices.SortedFunc(slices.Values(all), func(x, y metadata.Node) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Since, y.Since))
	}) {
		shown = append(shown, wire.Node{Name: n.Name, Version: n.Version, Since: encode.Time(n.Since), Seen: encode.Time(n.Seen)})
	}
	return shown
}

func roomOf(room *blobs.FreeSpace) wire.Room {
	if room == nil {
		return wire.Room{Bytes: -1, Files: -1}
	}
	return wire.Room{Bytes: room.Bytes, Files: room.Files}
}
