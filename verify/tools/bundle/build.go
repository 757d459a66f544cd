package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// assets is the folder of dist with the files that browsers may cache forever.
const assets = "assets"

// manifest lists the files that the shell links. Paths are relative to dist.
type manifest struct {
	Script  string   `json:"script"`
	Style   string   `json:"style"`
	Icon    string   `json:"icon"`
	Preload []string `json:"preload"` // modules that the script imports before it runs

	Drop        string   `json:"drop"` // the script of the page of a request link
	DropPreload []string `json:"dropPreload"`
}

// build bundles WEB/src into WEB/dist.
func build(web string) error {
	root, err := filepath.Abs(web)
	if err != nil {
		return err
	}
	dist := filepath.Join(root, "dist")
	framed, pdf, err := buildFrame(root, dist)
	if err != nil {
		return err
	}
	workers, decoders, err := buildDecoders(root, dist)
	if err != nil {
		return err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: root,
		EntryPoints:   []string{"src/app.tsx", "src/app.css", "src/icon.svg", "src/drop/drop.tsx"},
		// Strings: an object would become a separate chunk, which every page loads.
		Define: map[string]string{"PDF_ASSETS": strconv.Quote(pdf), "DECODERS": strconv.Quote(decoders)},
		Loader: map[string]api.Loader{".svg": api.LoaderCopy, ".md": api.LoaderText},
		Outdir: filepath.Join(dist, assets), Outbase: "src",
		EntryNames: "[name]-[hash]", ChunkNames: "chunk-[hash]", AssetNames: "[name]-[hash]",
		Bundle: true, Splitting: true, Format: api.FormatESModule, Platform: api.PlatformBrowser, Target: api.ES2022,
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true,
		Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsInline, Metafile: true, LogLevel: api.LogLevelWarning,
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("%d errors", len(result.Errors))
	}
	shell, err := linked(result.Metafile)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dist, assets), 0o777); err != nil {
		return err
	}
	for _, file := range slices.Concat(result.OutputFiles, framed, workers) {
		packed, err := pack(file.Contents)
		if err := errors.Join(err, os.WriteFile(file.Path, file.Contents, 0o666), os.WriteFile(file.Path+".gz", packed, 0o666)); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(shell, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dist, "manifest.json"), append(text, '\n'), 0o666)
}

// pack compresses content with gzip, without a time or a name, so that the output is deterministic.
func pack(content []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(content)
	err = errors.Join(err, w.Close())
	return packed.Bytes(), err
}

// output is the part of the metafile about one output file.
type output struct {
	EntryPoint string
	Imports    []struct{ Path, Kind string }
}

// linked returns the outputs of the entry points, and the chunks that the scripts import
// statically.
func linked(metafile string) (m manifest, err error) {
	var made struct{ Outputs map[string]output }
	if err := json.Unmarshal([]byte(metafile), &made); err != nil {
		return m, err
	}
	script, drop := "", ""
	for path, out := range made.Outputs {
		switch out.EntryPoint {
		case "src/app.tsx":
			script = path
		case "src/drop/drop.tsx":
			drop = path
		case "src/app.css":
			m.Style = strings.TrimPrefix(path, "dist/")
		case "src/icon.svg":
			m.Icon = strings.TrimPrefix(path, "dist/")
		}
	}
	if script == "" || drop == "" || m.Style == "" || m.Icon == "" {
		return m, errors.New("the metafile of esbuild lacks app.tsx, drop.tsx, app.css or icon.svg")
	}
	m.Script, m.Preload = strings.TrimPrefix(script, "dist/"), preload(made.Outputs, script)
	m.Drop, m.DropPreload = strings.TrimPrefix(drop, "dist/"), preload(made.Outputs, drop)
	return m, nil
}

// preload returns the modules that a script imports before it runs, in order.
func preload(outputs map[string]output, script string) []string {
	all := []string{}
	for waiting := []string{script}; len(waiting) > 0; waiting = waiting[1:] {
		for _, imported := range outputs[waiting[0]].Imports {
			path := strings.TrimPrefix(imported.Path, "dist/")
			if imported.Kind == "import-statement" && !slices.Contains(all, path) {
				all, waiting = append(all, path), append(waiting, imported.Path)
			}
		}
	}
	slices.Sort(all)
	return all
}
