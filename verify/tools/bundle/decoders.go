package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// buildDecoders bundles each file of WEB/src/decode to a worker of one file. It returns the files,
// and their paths by name as JSON. The workers are plain scripts, because their policy forbids
// loading modules. The service recognizes them by their names, decode-….
func buildDecoders(root, dist string) (files []api.OutputFile, where string, err error) {
	sources, err := filepath.Glob(filepath.Join(root, "src", "decode", "*.ts"))
	if err != nil {
		return nil, "", err
	}
	var entries []api.EntryPoint
	for _, source := range sources {
		name := strings.TrimSuffix(filepath.Base(source), ".ts")
		entries = append(entries, api.EntryPoint{InputPath: "src/decode/" + name + ".ts", OutputPath: "decode-" + name})
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: root, EntryPointsAdvanced: entries,
		Outdir: filepath.Join(dist, assets), EntryNames: "[name]-[hash]",
		Bundle: true, Format: api.FormatIIFE, Platform: api.PlatformBrowser, Target: api.ES2022,
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true,
		Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsInline, LogLevel: api.LogLevelWarning,
		LogOverride: map[string]api.LogLevel{"package.json": api.LogLevelSilent}, // the order of conditions in the package.json of Temml
		Plugins:     []api.Plugin{temml(root)},
	})
	if len(result.Errors) > 0 {
		return nil, "", fmt.Errorf("%d errors", len(result.Errors))
	}
	paths := map[string]string{}
	for _, file := range result.OutputFiles {
		name := filepath.Base(file.Path)
		paths[strings.Split(name, "-")[1]] = path.Join(assets, name)
	}
	text, err := json.Marshal(paths)
	return result.OutputFiles, string(text), err
}

// temml adds an export to the minified file of Temml, which only defines a variable.
func temml(root string) api.Plugin {
	return api.Plugin{Name: "temml", Setup: func(build api.PluginBuild) {
		build.OnLoad(api.OnLoadOptions{Filter: `[/\\]temml\.min\.js$`}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			script, err := os.ReadFile(filepath.Join(root, "vendor", "temml", "dist", "temml.min.js"))
			text := "/*! Temml (c) Ron Kok, MIT License */\n" + string(script) + "\nexport default temml;\n"
			return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, err
		})
	}}
}
