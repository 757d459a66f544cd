package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"labshelf/docs"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/html"
)

// DocsPath is the path of the documentation, for its files and its pages.
const DocsPath = "/docs/"

// Document returns a handler that sends a file of the documentation as plain text.
func Document(name string) exchange.Handler {
	return func(w http.ResponseWriter, r *exchange.Request) error {
		text, err := docs.Read(name)
		if err != nil {
			return err
		}
		w.Header().Set("Cache-Control", "no-cache")
		sum := sha256.Sum256(text)
		if !exchange.NotModified(w, r, hex.EncodeToString(sum[:16])) {
			exchange.Write(w, http.StatusOK, "text/plain; charset=utf-8", text)
		}
		return nil
	}
}

// manualPage returns the page of a part of the documentation for clients without scripts. It
// returns nil for an unknown address. The page at DocsPath lists all parts.
func (p *Pages) manualPage(at string) *html.Page {
	index := &html.Page{Title: "Manual", Lead: "The user guide and the API reference need JavaScript. The pages of the manual do not."}
	for _, part := range docs.Pages() {
		address := p.hosts.Prefix() + DocsPath + part.Name()
		if at == DocsPath+part.Name() {
			return &html.Page{Title: part.Title, Up: []html.Link{{Text: "Manual", URL: p.hosts.Prefix() + DocsPath + "manual"}}, Text: part.Text()}
		}
		index.Rows = append(index.Rows, html.Row{Link: html.Link{Text: part.Topic(), URL: address}, Note: part.Title})
	}
	if at == "/docs" || at == DocsPath+"manual" {
		return index
	}
	return nil
}
