package links

import (
	"cmp"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"labshelf/handlers/internal/download"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/links"
)

// showShare answers with a page of the files of a share.
func (l *Links) showShare(w http.ResponseWriter, r *exchange.Request, v visitor, visit links.LinkView, files []metadata.Resource, next string) error {
	address := l.hosts.Link(r.Request, v.Token)
	if next != "" {
		next = address + "?from=" + next
	}
	title := cmp.Or(visit.Label, visit.Title)
	if !wantsPage(r.Request) {
		shown := wire.SharedLink{
			Kind: visit.Kind.String(), Label: visit.Label, From: visit.Owner, Title: title, Description: visit.Description,
			Expires: expiresText(visit.Expires, time.RFC3339), Archive: address + "/archive", NextPage: next,
		}
		for _, f := range files {
			shown.Files = append(shown.Files, wire.SharedFile{
				Name: shownName(visit, f), URL: address + "/files/" + f.ID.String(), Bytes: f.Bytes, Mimetype: f.MimeType, SHA256: f.Digest,
				Modified: f.Modified.Time().UTC().Format(time.RFC3339),
			})
		}
		exchange.WriteJSON(w, http.StatusOK, shown)
		return nil
	}
	page := sharePage{
		frame: l.frame(title), From: visit.Owner, Description: visit.Description, Expires: expiresText(visit.Expires, time.DateOnly), Next: next, All: address + "/archive",
	}
	for _, f := range files {
		media := download.LikelyType(f)
		shows := download.InlineType(media)
		page.Files = append(page.Files, sharedFile{
			Name: shownName(visit, f), URL: address + "/files/" + f.ID.String(), Bytes: f.Bytes, Open: shows,
			Picture: shows && strings.HasPrefix(media, "image/") && f.Bytes <= maxPicture && visit.MaxUses == 0,
		})
	}
	return l.write(w, http.StatusOK, func(to io.Writer) error { return writeShare(to, page) })
}

// shownName returns the name of a file in its share: the name below the shared folder.
func shownName(visit links.LinkView, f metadata.Resource) string {
	return strings.TrimPrefix(f.Name, visit.Folder)
}

func expiresText(at metadata.Stamp, layout string) string {
	if at == 0 {
		return ""
	}
	return at.Time().UTC().Format(layout)
}

// File sends a file of a share.
func (l *Links) File(w http.ResponseWriter, r *exchange.Request) error {
	return l.visited(w, r, func(v visitor) error {
		fetch := fetchOf(r)
		resource, file, err := l.repo.Visitors.OpenShared(r.Context(), v.Visitor, r.ID(), fetch)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // only read from
		if err := download.SetType(w.Header(), resource, file, slices.Equal(r.URL.Query()["disposition"], []string{"inline"})); err != nil {
			return err
		}
		sent := download.ContentOf(resource, file)
		sent.Still = func() error { return l.repo.Visitors.MayStillReadShare(r.Context(), v.Visitor) }
		return l.downloads.Send(w, r, sent)
	})
}

// onePart matches a Range with one part that is counted from the beginning.
var onePart = regexp.MustCompile(`^bytes=0*([0-9]+)-([0-9]*)$`)

// fetchOf returns a function that reports how much of a file the visitor requests. A part with the
// beginning counts as the whole file. For a part beyond the end, nothing is sent. fetchOf removes
// conditions from the request, so that each counted download sends data.
func fetchOf(r *exchange.Request) func(bytes int64) links.Fetch {
	r.Header = r.Header.Clone()
	for _, name := range []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		r.Header.Del(name)
	}
	return func(bytes int64) links.Fetch {
		sent := r.Header.Values("Range")
		if r.Method == http.MethodHead {
			return links.FetchHead
		}
		if len(sent) != 1 || bytes == 0 { // a Range of an empty file is ignored
			return links.FetchWhole
		}
		part := onePart.FindStringSubmatch(sent[0])
		if part == nil {
			return links.FetchWhole
		}
		first, err := strconv.ParseInt(part[1], 10, 64)
		last, failed := strconv.ParseInt(cmp.Or(part[2], part[1]), 10, 64)
		none := err != nil || failed != nil || first >= bytes || last < first
		switch {
		case none && r.Header.Get("If-Range") == "": // with If-Range, the whole file may be sent
			return links.FetchHead
		case first == 0 && !none:
			return links.FetchWhole
		}
		return links.FetchPart
	}
}

// Archive sends the files of a share as one zip.
func (l *Links) Archive(w http.ResponseWriter, r *exchange.Request) error {
	return l.visited(w, r, func(v visitor) error {
		if r.Method == http.MethodHead {
			_, _, err := l.repo.Visitors.SharedFiles(r.Context(), v.Visitor, "", 1)
			return exchange.WriteNothing(w, "", err)
		}
		files, err := l.repo.Visitors.OpenSharedArchive(r.Context(), v.Visitor)
		if err != nil {
			return err
		}
		return l.downloads.SendArchive(w, r, files)
	})
}
