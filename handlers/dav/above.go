package dav

import (
	"cmp"
	"net/http"
	"strings"

	"labshelf/repository/folders"
)

// Windows sends OPTIONS and PROPFIND to each folder above the mounted one. It gives up if any
// answer does not name a class of WebDAV.

// Above returns the path of a folder above the drive, without a trailing slash. ok reports whether
// the path is such a folder.
func (d *Drive) Above(path string) (above string, ok bool) {
	above = strings.TrimSuffix(path, "/")
	return above, strings.HasPrefix(d.prefix, above+"/")
}

// DescribeAbove answers OPTIONS of a folder above the drive.
func DescribeAbove(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Allow", "OPTIONS, GET, HEAD, PROPFIND")
	header.Set("Dav", classes)
	header.Set("Ms-Author-Via", "DAV")
	w.WriteHeader(http.StatusOK)
}

// FindAbove answers PROPFIND of a folder above the drive. The folder contains only the next folder
// on the path to the drive.
func (d *Drive) FindAbove(w http.ResponseWriter, r *http.Request, above string) error {
	depth := cmp.Or(r.Header.Get("Depth"), "1")
	find, err := readPropfind(w, r)
	if err != nil {
		return err
	}
	if depth != "0" && depth != "1" {
		(&refusal{http.StatusForbidden, "<D:propfind-finite-depth/>"}).write(w)
		return nil
	}
	here := &Drive{repo: d.repo, prefix: above, locks: d.locks}
	p := &propfinding{drive: here, find: find}
	p.begin()
	p.add(&folders.DriveEntry{}, "", "")
	if depth == "1" {
		next, _, _ := strings.Cut(d.prefix[len(above)+1:], "/")
		p.add(&folders.DriveEntry{Element: next}, "", next)
	}
	w.Header().Set("Content-Type", xmlType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusMultiStatus)
	_, _ = w.Write(append(p.text, multiEnd...)) // an error means that the client is gone
	return nil
}
