package pages

import (
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	"labshelf/handlers/internal/exchange"
)

// frameSecurity is the content security policy of the document that draws a PDF. The document has
// no origin, even if it is opened alone, and no network access. It may load its own script and
// style, compile image decoders, and start a worker from a blob.
const frameSecurity = "sandbox allow-scripts; default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; worker-src blob:; " +
	"img-src blob: data:; font-src blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// decoderSecurity is the content security policy of the workers that read files. They have no
// origin, load nothing and have no network access; the page sends them bytes.
const decoderSecurity = "sandbox allow-scripts; default-src 'none'"

// assetTypes are the media types of assets, by extension.
var assetTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".json": "application/json",
	".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2", ".wasm": "application/wasm", ".html": "text/html; charset=utf-8",
}

// Asset answers with an asset. The name contains the hash of the content, so clients may cache it
// forever.
func (p *Pages) Asset(w http.ResponseWriter, r *exchange.Request) error {
	name := r.Params.ByName("name")
	kind := assetTypes[path.Ext(name)]
	if kind == "" {
		return exchange.ErrNoSuchPath
	}
	tag, header := name, w.Header()
	file, err := p.files.Open(path.Join("assets", name))
	if err != nil {
		return exchange.ErrNoSuchPath
	}
	if exchange.AcceptsGzip(r) {
		if packed, err := p.files.Open(path.Join("assets", name+".gz")); err == nil {
			_ = file.Close() // only read from
			file, tag = packed, name+".gz"
			header.Set("Content-Encoding", "gzip")
		}
	}
	defer func() { _ = file.Close() }()
	about, err := file.Stat()
	if err != nil {
		return err
	}
	header.Add("Vary", "Accept-Encoding")
	header.Set("Content-Type", kind)
	if strings.HasPrefix(name, "pdf-") { // the PDF frame has no origin
		header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	if path.Ext(name) == ".html" {
		header.Set("Content-Security-Policy", frameSecurity)
	}
	if strings.HasPrefix(name, "decode-") {
		header.Set("Content-Security-Policy", decoderSecurity)
	}
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	if !exchange.NotModified(w, r, tag) {
		header.Set("Content-Length", strconv.FormatInt(about.Size(), 10))
		_, _ = io.Copy(w, file) // an error means that the client is gone
	}
	return nil
}
