// Command plain is a minimal server in Go, as the limit of downloads and of starting. It keeps the
// files of a folder in memory and serves them by name. Without a folder, it answers every request
// with an empty body.
//
//	plain HOST:PORT [FOLDER]
package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
)

func main() {
	folder := ""
	if len(os.Args) > 2 {
		folder = os.Args[2]
	}
	files, err := read(folder)
	if err == nil {
		err = http.ListenAndServe(os.Args[1], handler(files))
	}
	_, _ = fmt.Fprintln(os.Stderr, "plain:", err)
	os.Exit(1)
}

// read returns the files of a folder by their paths in a URL, and nil without a folder.
func read(folder string) (map[string][]byte, error) {
	if folder == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		if files["/"+entry.Name()], err = os.ReadFile(filepath.Join(folder, entry.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func handler(files map[string][]byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, found := files[r.URL.Path]
		if !found && files != nil {
			http.NotFound(w, r)
			return
		}
		header := w.Header()
		header.Set("Content-Type", "application/octet-stream")
		header.Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body) // a client that went away gets no error
	}
}
