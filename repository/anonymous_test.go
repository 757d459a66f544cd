package repository_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/events"
	"labshelf/repository/repositorytest"
)

// forAnonymous are the use cases that an anonymous reader may call.
var forAnonymous = []string{
	"Dataspaces.Get", "Sets.Get", "Sets.List", "Files.Get", "Files.List", "Files.OpenResource", "Files.Presign", "Files.OpenArchive",
	"Versions.List", "Versions.Get", "Versions.Open", "Folders.Size", "BulkEdits.ExportMetadata",
	"Schemas.List", "Schemas.Get", "Schemas.ListVersions", "Schemas.GetVersion", "Descriptions.SetConformance", "Descriptions.ResourceConformance",
}

// TestUseCasesRefuseAnonymousReaders calls every use case that takes a caller, by reflection, so
// that new use cases are covered. Use cases that anonymous readers may not call must refuse them
// before they read anything. The others must refuse them if anonymous reading is disabled.
func TestUseCasesRefuseAnonymousReaders(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		config := repository.Config{PageSize: 10, DirectoryPageSize: 10, Anonymous: on}
		w := repositorytest.NewWorld(t, repositorytest.NewStill(metadatatest.NewMemory(time.Now), blobstest.NewMemory(), config), 1)
		_, err := w.Service.Dataspaces.Update(t.Context(), w.Admin, w.Space.ID.String(), containers.DataspaceFields{Visibility: new(metadata.Open)}, core.Match{})
		w.OK(err)
		tried := 0
		for field, room := range reflect.ValueOf(w.Service).Elem().Fields() {
			if !field.IsExported() || room.Type() == reflect.TypeFor[*events.Streams]() {
				continue
			}
			for method, value := range room.Methods() {
				name := field.Name + "." + method.Name
				if isUseCase(value.Type()) && !(on && slices.Contains(forAnonymous, name)) {
					tried++
					refusesAnonymous(w, name, value)
				}
			}
		}
		if tried < 50 {
			t.Errorf("only %d use cases were called", tried)
		}
	}
}

// refusesAnonymous calls a use case for an anonymous reader, which it must refuse.
func refusesAnonymous(w *repositorytest.World, name string, method reflect.Value) {
	w.T.Helper()
	kind := method.Type()
	args := []reflect.Value{reflect.ValueOf(w.T.Context()), reflect.ValueOf(auth.Principal{Anonymous: true})}
	for n := 2; n < kind.NumIn(); n++ {
		args = append(args, argument(w, kind.In(n)))
	}
	call := method.Call
	if kind.IsVariadic() {
		call = method.CallSlice
	}
	results := call(args)
	err, _ := results[len(results)-1].Interface().(error)
	var refusal *errs.Error
	if !errors.As(err, &refusal) || refusal.Kind != errs.Unauthenticated {
		w.T.Errorf("%s answers %v", name, err)
	}
}

// isUseCase reports whether a method takes a caller and is for gateways. A method that takes a
// function with a transaction is only for other packages of the repository.
func isUseCase(kind reflect.Type) bool {
	if kind.NumIn() < 2 || kind.In(0) != reflect.TypeFor[context.Context]() || kind.In(1) != reflect.TypeFor[auth.Principal]() {
		return false
	}
	for n := range kind.NumIn() {
		if in := kind.In(n); in.Kind() == reflect.Func && in.NumIn() > 0 && in.In(0) == reflect.TypeFor[*metadata.Tx]() {
			return false
		}
	}
	return true
}

// argument returns an argument for a use case, usually the id of an existing object.
func argument(w *repositorytest.World, of reflect.Type) reflect.Value {
	switch of {
	case reflect.TypeFor[string]():
		return reflect.ValueOf(w.Resources[0].ID.String())
	case reflect.TypeFor[*metadata.Dataspace]():
		return reflect.ValueOf(&w.Space)
	case reflect.TypeFor[paging.Listing]():
		return reflect.ValueOf(paging.Resources)
	case reflect.TypeFor[core.ListRequest]():
		return reflect.ValueOf(core.ListRequest{Container: w.Resources[0].ID.String()})
	}
	if of.Kind() == reflect.Func {
		return reflect.MakeFunc(of, func([]reflect.Value) []reflect.Value { panic(fmt.Sprint("called: ", of)) })
	}
	return reflect.Zero(of)
}

// TestOpenDataspaces: OpenDataspaces yields the active open dataspaces. It yields no dataspace if
// anonymous reading is disabled.
func TestOpenDataspaces(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		config := repository.Config{PageSize: 10, DirectoryPageSize: 10, Anonymous: on}
		w := repositorytest.NewWorld(t, repositorytest.NewStill(metadatatest.NewMemory(time.Now), blobstest.NewMemory(), config))
		for _, visibility := range []metadata.Visibility{metadata.Private, metadata.Public, metadata.Open, metadata.Open, metadata.Open} {
			d, err := w.Service.Dataspaces.Create(t.Context(), w.Admin, containers.NewDataspace{Name: fmt.Sprint(visibility, "-", len(w.Sets)), DataspaceFields: containers.DataspaceFields{Visibility: &visibility}})
			w.OK(err)
			w.Sets = append(w.Sets, metadata.Set{Record: d.Record})
		}
		_, err := w.Service.Dataspaces.Delete(t.Context(), w.Admin, w.Sets[4].ID.String(), repositorytest.Always)
		w.OK(err)
		var names []string
		err = w.Service.Dataspaces.OpenDataspaces(t.Context(), func(d metadata.Dataspace) bool {
			names = append(names, d.Name)
			return true
		})
		if want := map[bool]string{true: "[open-2 open-3]", false: "[]"}[on]; fmt.Sprint(names) != want || (err == nil) != on {
			t.Errorf("anonymous readers %v: got %v, %v, want %s", on, names, err, want)
		}
	}
}
