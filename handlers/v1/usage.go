package v1

import (
	"net/http"
	"time"

	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/containers"
)

// Usage serves the storage usage of dataspaces and users.
type Usage struct{ *api }

func counters(c metadata.Counters) wire.Counters {
	return wire.Counters(c)
}

func usage(u containers.UsageSummary) wire.Usage {
	shown := wire.Usage{Counters: counters(u.Counters), Days: make([]wire.UsageDay, len(u.Days)), Quota: u.Quota}
	for i, day := range u.Days {
		date := time.Unix(int64(day.Day)*24*60*60, 0).UTC()
		shown.Days[i] = wire.UsageDay{Day: date.Format(time.DateOnly), Counters: counters(day.Counters)}
	}
	if u.Dataspaces != nil {
		shown.Dataspaces = make([]wire.DataspaceUsage, len(u.Dataspaces))
	}
	for i, d := range u.Dataspaces {
		shown.Dataspaces[i] = wire.DataspaceUsage{DataspaceID: d.DataspaceID.String(), Counters: counters(d.Counters), Quota: d.Quota}
	}
	return shown
}

// Get answers with the usage of all dataspaces that the caller may read.
func (a Usage) Get(w http.ResponseWriter, r *exchange.Request) error {
	summary, err := a.repo.Dataspaces.Usage(r.Context(), r.Caller)
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, usage(summary))
	}
	return err
}

// OfDataspace answers with the usage of a dataspace.
func (a Usage) OfDataspace(w http.ResponseWriter, r *exchange.Request) error {
	summary, err := a.repo.Dataspaces.DataspaceUsage(r.Context(), r.Caller, r.ID())
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, usage(summary))
	}
	return err
}

// OfUser answers with the usage of a user.
func (a Usage) OfUser(w http.ResponseWriter, r *exchange.Request) error {
	share, err := a.repo.Users.Usage(r.Context(), r.Caller, r.ID())
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, wire.UserUsage(share))
	}
	return err
}
