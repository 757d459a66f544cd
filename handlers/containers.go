package handlers

import (
	"net/http"
	"time"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/containers"
	"labshelf/repository/core"
)

// containerRoutes serves dataspaces, sets and what they use.
type containerRoutes struct{ *api }

func (a containerRoutes) listDataspaces(w http.ResponseWriter, r *request) error {
	page, err := a.repo.Dataspaces.ListDataspaces(r.Context(), r.caller, r.list())
	if err != nil {
		return err
	}
	presenter := a.presenter(r)
	writePage(a.api, w, r, page, presenter.dataspace)
	return nil
}

func (a containerRoutes) createDataspace(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	created, err := a.repo.Dataspaces.CreateDataspace(r.Context(), r.caller, fields)
	if err != nil {
		return err
	}
	shown := a.presenter(r).dataspace(created)
	writeCreated(w, r, shown.URL, created.Tag(), shown)
	return nil
}

func (a containerRoutes) getDataspace(w http.ResponseWriter, r *request) error {
	found, err := a.repo.Dataspaces.GetDataspace(r.Context(), r.caller, r.id())
	return a.sendDataspace(w, r, found, checkPreconditions(r, found.Tag(), found.Modified, err))
}

func (a containerRoutes) updateDataspace(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	updated, err := a.repo.Dataspaces.UpdateDataspace(r.Context(), r.caller, r.id(), core.Edit[metadata.Dataspace]{
		Fields: fields, Match: preconditions(r), Shown: fieldsOf(a.presenter(r).dataspace),
	})
	return a.sendDataspace(w, r, updated, err)
}

func (a containerRoutes) deleteDataspace(w http.ResponseWriter, r *request) error {
	deleted, err := a.repo.Dataspaces.DeleteDataspace(r.Context(), r.caller, r.id(), preconditions(r))
	return sendNothing(w, deleted.Tag(), err)
}

func (a containerRoutes) restoreDataspace(w http.ResponseWriter, r *request) error {
	restored, err := a.repo.Dataspaces.RestoreDataspace(r.Context(), r.caller, r.id(), preconditions(r))
	return a.sendDataspace(w, r, restored, err)
}

func (a containerRoutes) sendDataspace(w http.ResponseWriter, r *request, d metadata.Dataspace, err error) error {
	if err == nil {
		writeRecord(w, r, http.StatusOK, d.Tag(), a.presenter(r).dataspace(d))
	}
	return err
}

func (a containerRoutes) listSets(which paging.Listing) func(w http.ResponseWriter, r *request) error {
	return func(w http.ResponseWriter, r *request) error {
		page, err := a.repo.Sets.ListSets(r.Context(), r.caller, which, r.list())
		if err != nil {
			return err
		}
		presenter := a.presenter(r)
		writePage(a.api, w, r, page, presenter.set)
		return nil
	}
}

func (a containerRoutes) createSet(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	created, err := a.repo.Sets.CreateSet(r.Context(), r.caller, fields)
	if err != nil {
		return err
	}
	shown := a.presenter(r).set(created)
	writeCreated(w, r, shown.URL, created.Tag(), shown)
	return nil
}

func (a containerRoutes) getSet(w http.ResponseWriter, r *request) error {
	found, err := a.repo.Sets.GetSet(r.Context(), r.caller, r.id())
	return a.sendSet(w, r, found, checkPreconditions(r, found.Tag(), found.Modified, err))
}

func (a containerRoutes) updateSet(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	updated, err := a.repo.Sets.UpdateSet(r.Context(), r.caller, r.id(), core.Edit[metadata.Set]{
		Fields: fields, Match: preconditions(r), Shown: fieldsOf(a.presenter(r).set),
	})
	return a.sendSet(w, r, updated, err)
}

func (a containerRoutes) deleteSet(w http.ResponseWriter, r *request) error {
	deleted, err := a.repo.Sets.DeleteSet(r.Context(), r.caller, r.id(), preconditions(r))
	return sendNothing(w, deleted.Tag(), err)
}

func (a containerRoutes) restoreSet(w http.ResponseWriter, r *request) error {
	restored, err := a.repo.Sets.RestoreSet(r.Context(), r.caller, r.id(), preconditions(r))
	return a.sendSet(w, r, restored, err)
}

func (a containerRoutes) sendSet(w http.ResponseWriter, r *request, set metadata.Set, err error) error {
	if err == nil {
		writeRecord(w, r, http.StatusOK, set.Tag(), a.presenter(r).set(set))
	}
	return err
}

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

func (a containerRoutes) getUsage(w http.ResponseWriter, r *request) error {
	summary, err := a.repo.Dataspaces.Usage(r.Context(), r.caller)
	if err == nil {
		writeJSON(w, http.StatusOK, usage(summary))
	}
	return err
}

func (a containerRoutes) getDataspaceUsage(w http.ResponseWriter, r *request) error {
	summary, err := a.repo.Dataspaces.DataspaceUsage(r.Context(), r.caller, r.id())
	if err == nil {
		writeJSON(w, http.StatusOK, usage(summary))
	}
	return err
}

func (a containerRoutes) getUserUsage(w http.ResponseWriter, r *request) error {
	share, err := a.repo.Users.UserUsage(r.Context(), r.caller, r.id())
	if err == nil {
		writeJSON(w, http.StatusOK, wire.UserUsage(share))
	}
	return err
}
