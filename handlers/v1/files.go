package v1

import (
	"cmp"
	"encoding/base64"
	"io"
	"net/http"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/download"
	"labshelf/handlers/internal/exchange"
	"labshelf/metadata"
)

// Files serves files and archives.
type Files struct{ *api }

// Download sends the file of a resource.
func (a Files) Download(w http.ResponseWriter, r *exchange.Request) error {
	if a.redirects(r) {
		resource, address, err := a.repo.Files.Presign(r.Context(), r.Caller, r.ID())
		if err != nil || address != "" {
			return redirect(w, resource, address, err)
		}
	}
	return a.send(w, r, func() (metadata.Resource, io.ReadSeekCloser, error) {
		return a.repo.Files.OpenResource(r.Context(), r.Caller, r.ID())
	})
}

// redirects reports whether a download may redirect to the blob store. Only a GET with a key in a
// header may. Pages must not, since their policy allows no other host. Conditional requests must
// not, since the conditions refer to tags of this service.
func (a Files) redirects(r *exchange.Request) bool {
	if !a.config.RedirectDownloads || r.Method != http.MethodGet || len(r.Header["Authorization"]) != 1 || r.Query.Has("disposition") {
		return false
	}
	return !download.SelectsBeyondRange(r.Header)
}

// redirect answers with the address of the bytes and the headers that the client needs to verify
// them.
func redirect(w http.ResponseWriter, of metadata.Resource, address string, err error) error {
	if err != nil {
		return err
	}
	exchange.SetAll(w.Header(), "Location", address, "Cache-Control", "no-store", "Etag", `"sha256-`+of.Digest.String()+`"`,
		"Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(of.Digest[:])+":")
	w.WriteHeader(http.StatusTemporaryRedirect)
	return nil
}

// DownloadVersion sends the file of one version of a resource.
func (a Files) DownloadVersion(w http.ResponseWriter, r *exchange.Request) error {
	return a.send(w, r, func() (metadata.Resource, io.ReadSeekCloser, error) {
		return a.repo.Versions.Open(r.Context(), r.Caller, r.ID(), r.Number())
	})
}

// send sends the file that open returns for the resource in the path.
func (a Files) send(w http.ResponseWriter, r *exchange.Request, open func() (metadata.Resource, io.ReadSeekCloser, error)) error {
	inline, invalid := wantsInline(r)
	if invalid != nil {
		// Callers without read permission get the permission error only.
		_, err := a.repo.Files.Get(r.Context(), r.Caller, r.ID())
		return cmp.Or(err, invalid)
	}
	resource, file, err := open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read from
	return a.downloads.SendResource(w, r, resource, file, inline)
}

func wantsInline(r *exchange.Request) (bool, error) {
	switch values := r.Query["disposition"]; {
	case len(values) == 0, len(values) == 1 && values[0] == "attachment":
		return false, nil
	case len(values) == 1 && values[0] == "inline":
		return true, nil
	}
	return false, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: "disposition",
		Message: "disposition may be given once, as inline or attachment"}
}

// Archive sends the files of a set as one zip, generated while it is sent.
func (a Files) Archive(w http.ResponseWriter, r *exchange.Request) error {
	files, err := a.repo.Files.OpenArchive(r.Context(), r.Caller, r.ID(), r.Query.Get("folder"), r.Query["resource"])
	if err != nil {
		return err
	}
	return a.downloads.SendArchive(w, r, files)
}
