package handlers

import (
	"net/http"
	"time"

	"labshelf/metadata"
	"labshelf/repository"
)

type countersJSON struct {
	ActiveFiles  int64 `json:"activeFiles"`
	ActiveBytes  int64 `json:"activeBytes"`
	DeletedFiles int64 `json:"deletedFiles"`
	DeletedBytes int64 `json:"deletedBytes"`
	OldVersions  int64 `json:"oldVersions"`
	OldBytes     int64 `json:"oldBytes"`
}

type dayJSON struct {
	Day string `json:"day"`
	countersJSON
}

type dataspaceUsageJSON struct {
	DataspaceID string `json:"dataspaceId"`
	countersJSON
}

type usageJSON struct {
	countersJSON
	Days       []dayJSON            `json:"days"`
	Dataspaces []dataspaceUsageJSON `json:"dataspaces,omitzero"` // of several dataspaces
}

func counters(c metadata.Counters) countersJSON {
	return countersJSON{c.ActiveFiles, c.ActiveBytes, c.DeletedFiles, c.DeletedBytes, c.OldVersions, c.OldBytes}
}

func usage(u repository.UsageSummary) usageJSON {
	shown := usageJSON{countersJSON: counters(u.Counters), Days: make([]dayJSON, len(u.Days))}
	for i, day := range u.Days {
		date := time.Unix(int64(day.Day)*24*60*60, 0).UTC()
		shown.Days[i] = dayJSON{date.Format(time.DateOnly), counters(day.Counters)}
	}
	if u.Dataspaces != nil {
		shown.Dataspaces = make([]dataspaceUsageJSON, len(u.Dataspaces))
	}
	for i, d := range u.Dataspaces {
		shown.Dataspaces[i] = dataspaceUsageJSON{d.DataspaceID.String(), counters(d.Counters)}
	}
	return shown
}

func (a *api) getUsage(w http.ResponseWriter, r *request) error {
	summary, err := a.repo.Usage(r.Context(), r.caller)
	if err == nil {
		writeJSON(w, http.StatusOK, usage(summary))
	}
	return err
}

func (a *api) getDataspaceUsage(w http.ResponseWriter, r *request) error {
	summary, err := a.repo.DataspaceUsage(r.Context(), r.caller, r.id())
	if err == nil {
		writeJSON(w, http.StatusOK, usage(summary))
	}
	return err
}
