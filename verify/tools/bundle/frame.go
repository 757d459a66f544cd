package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// framePage is the document of the frame that renders a PDF. Its links are relative.
const framePage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>PDF</title>
<link rel="stylesheet" href="%s">
<script defer src="%s"></script>
</head>
<body></body>
</html>
`

// frameAssets contains the paths of the assets of the frame, relative to dist.
type frameAssets struct {
	Frame    string            `json:"frame"`
	Worker   string            `json:"worker"`
	Decoders map[string]string `json:"decoders"` // by the names that pdf.js requests
}

// buildFrame bundles the frame and returns its files, and their paths as JSON. The scripts are not
// modules, because a document without an origin may load only plain scripts from the service. The
// service recognizes the files of the frame by their names, pdf-….
func buildFrame(root, dist string) (files []api.OutputFile, where string, err error) {
	const vendor = "vendor/pdfjs-dist/"
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: root,
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: "src/pdf/frame.ts", OutputPath: "pdf"}, {InputPath: "src/pdf/frame.css", OutputPath: "pdf"},
			{InputPath: vendor + "legacy/build/pdf.worker.min.mjs", OutputPath: "worker"},
			{InputPath: vendor + "wasm/openjpeg.wasm", OutputPath: "openjpeg"}, {InputPath: vendor + "wasm/jbig2.wasm", OutputPath: "jbig2"},
		},
		Loader: map[string]api.Loader{".wasm": api.LoaderCopy},
		Outdir: filepath.Join(dist, assets), EntryNames: "[name]-[hash]",
		Bundle: true, Format: api.FormatIIFE, Platform: api.PlatformBrowser, Target: api.ES2022,
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true,
		Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsInline, LogLevel: api.LogLevelWarning,
		LogOverride: map[string]api.LogLevel{"empty-import-meta": api.LogLevelSilent}, // only Node would need it
	})
	if len(result.Errors) > 0 {
		return nil, "", fmt.Errorf("%d errors", len(result.Errors))
	}
	files = result.OutputFiles
	named := map[string]string{}
	for _, file := range files {
		name := filepath.Base(file.Path)
		stem, _, _ := strings.Cut(name, "-")
		named[stem+filepath.Ext(name)] = name
	}
	page := fmt.Appendf(nil, framePage, named["pdf.css"], named["pdf.js"])
	sum := sha256.Sum256(page)
	name := "pdf-" + strings.ToUpper(hex.EncodeToString(sum[:4])) + ".html"
	files = append(files, api.OutputFile{Path: filepath.Join(dist, assets, name), Contents: page})
	at := func(name string) string { return path.Join(assets, name) }
	text, err := json.Marshal(frameAssets{Frame: at(name), Worker: at(named["worker.js"]), Decoders: map[string]string{
		"openjpeg.wasm": at(named["openjpeg.wasm"]), "jbig2.wasm": at(named["jbig2.wasm"]),
	}})
	return files, string(text), err
}
