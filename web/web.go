// Package web contains the pages of the service: their sources (src), third-party libraries
// (vendor), and the bundle for browsers (dist), which is generated from both and committed, so that
// the program is built without them. The package serves nothing itself.
//
// The address alone decides what a page shows; filters and orders are parameters of it, and of the
// request, so that the service filters and sorts, never the page. A list holds the visible rows and
// some pages around them (src/ui/list.tsx). Uploads form one queue for the whole window
// (src/upload/queue.ts). The script uses the public interface, like any other client.
//
// A file is shown by a preview (src/preview), which one table chooses by type and extension, and
// which reads ranges of the file with If-Match: a replacement cannot be mixed in. Nothing of a file
// becomes HTML. A table keeps its text, and where rows begin; cells are split when they are visible
// or drawn. A plot gets the lowest and highest values of intervals where rows outnumber pixels. A
// PDF is drawn in a frame that has no origin and may fetch nothing (src/pdf); the page passes the
// file to it by a message. Formats that browsers do not know (src/sight: a table by first bytes and
// extensions) are read by decoders (src/decode): workers of one script each, without origin and
// network, which ask the page for ranges, and answer with a tree, slices, samples or a model (drawn
// by src/sight/solid). One that takes too long or fails is ended, and the bytes are shown with the
// reason. So are source code and formulas: the page gets where parts end, or a tree, and makes
// elements of a separate list. Markdown and notebooks (src/document) refer to files of their set
// only. The versions of a file (src/versions) are shown by the same previews; two texts are
// compared by lines, for a limited time.
//
// Metadata (src/describe) are saved as a merge patch of the members and properties that differ from
// what the form was opened with. A search (src/find) is its address; the pages only add and remove
// conditions of it, and the service reads them.
package web

import (
	"embed"
	"io/fs"
)

//go:generate go -C ../verify/tools run ./bundle ../../web

//go:embed dist
var dist embed.FS

// Files returns the bundle: manifest.json, which lists what the shell of the pages links, and
// assets, each with a gzip file next to it.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // "dist" is a valid path
	}
	return files
}
