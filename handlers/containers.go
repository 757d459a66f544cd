package handlers

import (
	"net/http"
	"time"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/containers"
)

// containerRoutes serves dataspaces, sets and what they use.
type containerRoutes struct{ *api }

func (a containerRoutes) listDataspaces(w http.ResponseWriter, r *exchange.Request) error {
	page, err := a.repo.Dataspaces.ListDataspaces(r.Context(), r.Caller, r.List())
	if err != nil {
		return err
	}
	presenter := a.presenter(r)
	writePage(a.api, w, r, page, presenter.dataspace)
	return nil
}

func (a containerRoutes) createDataspace(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	created, err := a.repo.Dataspaces.CreateDataspace(r.Context(), r.Caller, input.NewDataspace(fields))
	if err != nil {
		return err
	}
	shown := a.presenter(r).dataspace(created)
	exchange.WriteCreated(w, r, shown.URL, created.Tag(), shown)
	return nil
}

func (a containerRoutes) getDataspace(w http.ResponseWriter, r *exchange.Request) error {
	found, err := a.repo.Dataspaces.GetDataspace(r.Context(), r.Caller, r.ID())
	return a.sendDataspace(w, r, found, exchange.CheckPreconditions(r, found.Tag(), found.Modified, err))
}

func (a containerRoutes) updateDataspace(w http.ResponseWriter, r *exchange.Request) error {
	updated, err := editing[metadata.Dataspace, containers.DataspaceFields]{
		input.DataspaceEdit, a.repo.Dataspaces.GetDataspace, fieldsOf(a.presenter(r).dataspace), a.repo.Dataspaces.UpdateDataspace,
	}.edit(w, r)
	return a.sendDataspace(w, r, updated, err)
}

func (a containerRoutes) deleteDataspace(w http.ResponseWriter, r *exchange.Request) error {
	deleted, err := a.repo.Dataspaces.DeleteDataspace(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return exchange.WriteNothing(w, deleted.Tag(), err)
}

func (a containerRoutes) restoreDataspace(w http.ResponseWriter, r *exchange.Request) error {
	restored, err := a.repo.Dataspaces.RestoreDataspace(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return a.sendDataspace(w, r, restored, err)
}

func (a containerRoutes) sendDataspace(w http.ResponseWriter, r *exchange.Request, d metadata.Dataspace, err error) error {
	if err == nil {
		exchange.WriteRecord(w, r, http.StatusOK, d.Tag(), a.presenter(r).dataspace(d))
	}
	return err
}

func (a containerRoutes) listSets(which paging.Listing) func(w http.ResponseWriter, r *exchange.Request) error {
	return func(w http.ResponseWriter, r *exchange.Request) error {
		page, err := a.repo.Sets.ListSets(r.Context(), r.Caller, which, r.List())
		if err != nil {
			return err
		}
		presenter := a.presenter(r)
		writePage(a.api, w, r, page, presenter.set)
		return nil
	}
}

func (a containerRoutes) createSet(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	set, err := input.NewSet(fields)
	if err != nil {
		return err
	}
	created, err := a.repo.Sets.CreateSet(r.Context(), r.Caller, set)
	if err != nil {
		return err
	}
	shown := a.presenter(r).set(created)
	exchange.WriteCreated(w, r, shown.URL, created.Tag(), shown)
	return nil
}

func (a containerRoutes) getSet(w http.ResponseWriter, r *exchange.Request) error {
	found, err := a.repo.Sets.GetSet(r.Context(), r.Caller, r.ID())
	return a.sendSet(w, r, found, exchange.CheckPreconditions(r, found.Tag(), found.Modified, err))
}

func (a containerRoutes) updateSet(w http.ResponseWriter, r *exchange.Request) error {
	updated, err := editing[metadata.Set, containers.SetFields]{
		input.SetEdit, a.repo.Sets.GetSet, fieldsOf(a.presenter(r).set), a.repo.Sets.UpdateSet,
	}.edit(w, r)
	return a.sendSet(w, r, updated, err)
}

func (a containerRoutes) deleteSet(w http.ResponseWriter, r *exchange.Request) error {
	deleted, err := a.repo.Sets.DeleteSet(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return exchange.WriteNothing(w, deleted.Tag(), err)
}

func (a containerRoutes) restoreSet(w http.ResponseWriter, r *exchange.Request) error {
	restored, err := a.repo.Sets.RestoreSet(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return a.sendSet(w, r, restored, err)
}

func (a containerRoutes) sendSet(w http.ResponseWriter, r *exchange.Request, set metadata.Set, err error) error {
	if err == nil {
		exchange.WriteRecord(w, r, http.StatusOK, set.Tag(), a.presenter(r).set(set))
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

func (a containerRoutes) getUsage(w http.ResponseWriter, r *exchange.Request) error {
	summary, err := a.repo.Dataspaces.Usage(r.Context(), r.Caller)
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, usage(summary))
	}
	return err
}

func (a containerRoutes) getDataspaceUsage(w http.ResponseWriter, r *exchange.Request) error {
	summary, err := a.repo.Dataspaces.DataspaceUsage(r.Context(), r.Caller, r.ID())
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, usage(summary))
	}
	return err
}

func (a containerRoutes) getUserUsage(w http.ResponseWriter, r *exchange.Request) error {
	share, err := a.repo.Users.UserUsage(r.Context(), r.Caller, r.ID())
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, wire.UserUsage(share))
	}
	return err
}
