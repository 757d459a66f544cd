package repository_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/folders"
	"labshelf/repository/repositorytest"
)

// drive is a world with the path of its first set.
type drive struct{ *repositorytest.Disk }

func newDrive(t *testing.T) drive {
	t.Helper()
	return drive{repositorytest.NewDisk(t, repository.Config{}, 0)}
}

func (d drive) at(path string) folders.DrivePath {
	return folders.DrivePath{Dataspace: d.Space.Name, Set: d.Sets[0].Name, Path: path}
}

func always(*folders.DriveEntry) error { return nil }

func (d drive) put(p auth.Principal, path, content string) (metadata.Resource, bool, error) {
	d.T.Helper()
	up := d.Service.Uploads.NewUpload(p)
	defer func() { d.OK(up.Discard()) }()
	if err := d.Service.Drive.AdmitAt(d.T.Context(), up, d.at(path), always); err != nil {
		return metadata.Resource{}, false, err
	}
	d.OK(up.Receive(d.T.Context(), strings.NewReader(content)))
	return d.Service.Drive.PutAt(d.T.Context(), up, d.at(path), files.UploadFields{}, always)
}

func (d drive) lookup(path string) folders.DriveEntry {
	d.T.Helper()
	e, err := d.Service.Drive.Lookup(d.T.Context(), d.Admin, d.at(path))
	d.OK(err)
	return e
}

// list lists a folder in pages.
func (d drive) list(path folders.DrivePath, page int) (elements []string) {
	d.T.Helper()
	for next, more := (folders.DrivePosition{}), true; more; {
		var err error
		next, more, err = d.Service.Drive.List(d.T.Context(), d.Admin, path, next, page, func(e *folders.DriveEntry) bool {
			if e.Folder != "" {
				elements = append(elements, e.Element+"/")
			} else {
				elements = append(elements, e.Element)
			}
			return true
		})
		d.OK(err)
	}
	return elements
}

// TestDriveHasEachFileOnce: for any names and any page size, each file has exactly one path, and
// the path leads to it.
func TestDriveHasEachFileOnce(t *testing.T) {
	t.Parallel()
	d := newDrive(t)
	all := map[metadata.ID]bool{}
	for n := range 300 {
		names := []string{"a", "a", "a/b", "a!", "a0", "x/" + fmt.Sprint(n%7), "x//y", "../z", "b.txt", "b.txt/c", "é/ü.tif", `w\v`, fmt.Sprint("deep/", n%3, "/", n)}
		all[d.Upload(d.Sets[0], names[n%len(names)]).ID] = true
	}
	d.OK(d.Service.Drive.CreateFolder(t.Context(), d.Admin, d.at("a/made")))
	ids := map[metadata.ID]bool{}
	var walk func(folder string, page int) int
	walk = func(folder string, page int) (files int) {
		for _, element := range d.list(d.at(strings.TrimSuffix(folder, "/")), page) {
			e := d.lookup(strings.TrimSuffix(folder+element, "/"))
			switch {
			case e.Missing != folders.Present:
				t.Fatalf("%q in %q is listed, but does not exist", element, folder)
			case e.File == nil:
				files += walk(e.Folder, page)
			case !ids[e.File.ID]:
				t.Fatalf("the file %q in %q is listed twice", element, folder)
			default:
				files++
				delete(ids, e.File.ID)
			}
		}
		return files
	}
	for _, page := range []int{1, 2, 7, 1000} {
		maps.Copy(ids, all)
		if files := walk("", page); files != 300 || len(ids) != 0 {
			t.Fatalf("in pages of %d: %d files, %d are missing", page, files, len(ids))
		}
	}
}

// TestDrivePut: a body at a path creates a resource or a new version of the existing one. The new
// version keeps the description.
func TestDrivePut(t *testing.T) {
	t.Parallel()
	d := newDrive(t)
	first, created, err := d.put(d.Admin, "data.csv", "1,2")
	if d.OK(err); !created || first.Name != "data.csv" || first.Filename != "data.csv" || first.Format != "CSV" {
		t.Fatalf("it created %+v", first)
	}
	edited, err := d.Service.Files.Edit(t.Context(), d.Admin, first.ID.String(), files.Fields{Description: new("said"), Format: new("Own")}, core.Match{})
	d.OK(err)
	next, created, err := d.put(d.Admin, "data.csv", "3,4")
	if d.OK(err); created || next.ID != first.ID || next.Version != 1 || next.Description != "said" || next.Format != "Own" || next.Digest == edited.Digest {
		t.Errorf("the resource is now %+v", next)
	}
	renamed := d.Upload(d.Sets[0], "data.csv")
	if next, _, err = d.put(d.Admin, "data ("+renamed.ID.String()+").csv", "5"); err != nil || next.ID != renamed.ID || next.Name != "data.csv" {
		t.Errorf("the newer file is now %+v, %v", next, err)
	}
	d.OK(d.Service.Drive.CreateFolder(t.Context(), d.Admin, d.at("made")))
	for path, code := range map[string]errs.Code{
		"none/x": errs.CodeNotFound, "made": errs.CodeMethodNotAllowed, "": errs.CodeForbidden, "a//b": errs.CodeInvalidField, "made/..": errs.CodeInvalidField,
		`made/a\b`: errs.CodeInvalidField, "data.csv/x": errs.CodeNotFound, "made/" + strings.Repeat("n", 256): errs.CodeInvalidField,
	} {
		_, _, err := d.put(d.Admin, path, "x")
		d.Refused(err, code)
	}
	if got := d.list(d.at(""), 10); len(got) != 3 {
		t.Errorf("the files are %q", got)
	}
}

// TestDriveFolders: a folder can be created once, in an existing folder, and stays after its last
// file is deleted.
func TestDriveFolders(t *testing.T) {
	t.Parallel()
	d := newDrive(t)
	make := func(path string) error { return d.Service.Drive.CreateFolder(t.Context(), d.Admin, d.at(path)) }
	d.OK(make("a"))
	d.OK(make("a/b"))
	for path, code := range map[string]errs.Code{"a": errs.CodeMethodNotAllowed, "x/y": errs.CodeNotFound, "": errs.CodeForbidden, "a/.": errs.CodeInvalidField} {
		d.Refused(make(path), code)
	}
	r := d.Upload(d.Sets[0], "implied/file")
	if e := d.lookup("implied"); e.Folder != "implied/" || e.Made != 0 {
		t.Errorf("the folder of a file is %+v", e)
	}
	_, err := d.Service.Files.Delete(t.Context(), d.Admin, r.ID.String(), repositorytest.Always)
	d.OK(err)
	if e := d.lookup("implied"); e.Missing != folders.Free {
		t.Errorf("without its file, the folder is %+v", e)
	}
	d.Upload(d.Sets[0], "implied/again/file")
	for _, path := range []string{"implied/again/file", "implied/again"} {
		_, err := d.Service.Drive.Delete(t.Context(), d.Admin, d.at(path), func(folders.DriveEntry) error { return nil })
		d.OK(err)
		parent := path[:strings.LastIndexByte(path, '/')]
		if e := d.lookup(parent); e.Folder != parent+"/" || e.Made == 0 {
			t.Errorf("after the deletion of %s, its folder is %+v", path, e)
		}
	}
}

// TestDriveProperties: properties of a file or folder stay until they are removed, are limited in
// size, and do not change the stamp.
func TestDriveProperties(t *testing.T) {
	t.Parallel()
	d := newDrive(t)
	before := d.Upload(d.Sets[0], "f/file")
	change := func(path, to string) error {
		return d.Service.Drive.ChangeProperties(t.Context(), d.Admin, d.at(path), func(e *folders.DriveEntry) error {
			e.Properties = to
			return nil
		})
	}
	for _, path := range []string{"f/file", "f", ""} {
		for _, to := range []string{"one", "two", ""} {
			if d.OK(change(path, to)); d.lookup(path).Properties != to {
				t.Errorf("%q has %q, want %q", path, d.lookup(path).Properties, to)
			}
		}
	}
	d.Refused(change("f/file", strings.Repeat("x", 16<<10+1)), errs.CodeInvalidField)
	d.Refused(change("none", "x"), errs.CodeNotFound)
	if after := d.Get(before.ID); after.Tag() != before.Tag() {
		t.Error("the file is shown as changed")
	}
}
