// Package web is the pages of the service: their sources (src), what others wrote for them (vendor), and what browsers load
// (dist), which is made of both and committed, so that the program is built without any of it. It serves nothing itself.
package web

import (
	"embed"
	"io/fs"
)

//go:generate go -C ../tools run ./bundle ../web

//go:embed dist
var dist embed.FS

// Files returns what browsers load: manifest.json, which says what the shell of the pages links, and assets, where each file
// has its gzip beside it.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // "dist" is a valid path
	}
	return files
}
