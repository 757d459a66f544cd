package pages

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/html"
	"labshelf/metadata"
	"labshelf/paging"
)

// openSet returns the page of an open set. It shows one level of folders, like the pages with a
// script.
func (p *Pages) openSet(r *exchange.Request, id string, at html.Addresses) (object html.Object, page *html.Page, err error) {
	if object, err = p.readSet(r, id); err != nil {
		return object, nil, err
	}
	var files []metadata.Resource
	var folders []string
	folder, params := r.Query.Get("folder"), url.Values{"order": {"name"}, "delimiter": {"/"}}
	if folder != "" {
		params.Set("namePrefix", folder)
	}
	ends, err := p.repo.Files.List(r.Context(), r.Caller, paging.SetResources, listed(r, paging.SetResources, id, params), func(borrowed *metadata.Resource) {
		files = append(files, kept(*borrowed))
	}, func(path string) { folders = append(folders, path) })
	if err == nil && folder != "" {
		err = inFolder(folder, files, folders)
	}
	if err != nil {
		return object, nil, err
	}
	page = object.Page(at)
	page.Dataset, page.Heading = object.Dataset(at, files...), "Files"
	if len(files)+len(folders) > 0 {
		page.Downloads = []html.Link{{Text: "Download all", URL: at.Archive(id)}}
	}
	list := at.Page("sets", id)
	address := func(folder string) string {
		if folder == "" {
			return list
		}
		return list + "?" + url.Values{"folder": {folder}}.Encode()
	}
	switch {
	case folder == "":
	case len(files)+len(folders) == 0: // without the name: an address must not put words into a page
		page.Heading = "This folder has no files"
		page.Rows = append(page.Rows, html.Row{Link: html.Link{Text: "All files", URL: list}})
	default:
		page.Heading = "Files in " + folder
		above, _ := path.Split(strings.TrimSuffix(folder, "/"))
		page.Rows = append(page.Rows, html.Row{Link: html.Link{Text: cmp.Or(above, "All files"), URL: address(above)}, Note: "the folder above"})
	}
	for _, path := range folders {
		page.Rows = append(page.Rows, html.Row{Link: html.Link{Text: strings.TrimPrefix(path, folder), URL: address(path)}, Note: "folder"})
	}
	for _, f := range files {
		page.Rows = append(page.Rows, html.Row{
			Link: html.Link{Text: cmp.Or(strings.TrimPrefix(f.Name, folder), f.Name), URL: at.Page("resources", f.ID.String())}, Note: f.MimeType, Bytes: f.Bytes,
			Changed: f.Modified.Time(), File: at.File(f.ID.String()),
		})
	}
	page.More = otherPages(r, address(folder), ends, len(files)+len(folders))
	return object, page, nil
}

// inFolder returns an error if a page token belongs to another folder.
func inFolder(folder string, files []metadata.Resource, folders []string) error {
	outside := func(name string) bool { return !strings.HasPrefix(name, folder) }
	if slices.ContainsFunc(folders, outside) || slices.ContainsFunc(files, func(f metadata.Resource) bool { return outside(f.Name) }) {
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidToken, Field: "page", Message: "page belongs to another folder"}
	}
	return nil
}
