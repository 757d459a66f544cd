package download

import (
	"context"
	"errors"
	"io"
	"net/http"

	"labshelf/auth/errs"
	"labshelf/formats/archive"
	"labshelf/handlers/internal/exchange"
	"labshelf/repository/files"
)

// SendArchive sends an archive and closes it.
func (s *Sender) SendArchive(w http.ResponseWriter, r *exchange.Request, files *files.Archive) error {
	defer files.Close()
	header := w.Header()
	header.Set("Content-Type", "application/zip")
	header.Set("Content-Disposition", SaveAs("attachment", files.Set.Name+".zip"))
	header.Set("Content-Security-Policy", contentSecurity("application/zip"))
	header.Set("Cache-Control", "no-store")
	header.Set("Accept-Ranges", "none")
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	sent := &exchange.StartedWriter{Writer: w}
	err := s.sendArchive(r.Context(), sent, files)
	if err == nil {
		return nil
	}
	if !sent.Started {
		return err
	}
	var known *errs.Error
	if errors.As(err, &known) { // otherwise the client is gone
		exchange.NoteError(w, err)
	}
	panic(http.ErrAbortHandler) // cuts the connection: the archive is invalid without its last bytes
}

// sendArchive writes every file, then the directory of the archive. On an error it writes no part
// of the directory. Errors of the connection are not *errs.Error.
func (s *Sender) sendArchive(ctx context.Context, to io.Writer, files *files.Archive) error {
	zip := archive.NewWriter(to, archive.Set{ID: files.Set.ID.String(), Name: files.Set.Name, Metadata: files.Set.Descriptive})
	for {
		resource, file, err := files.Next(ctx)
		if err == io.EOF {
			return zip.Close()
		}
		if err != nil {
			return err
		}
		err = zip.Add(archive.File{
			ID: resource.ID.String(), Name: resource.Name, MimeType: resource.MimeType, Metadata: resource.Descriptive,
			Bytes: resource.Bytes, SHA256: resource.Digest, Modified: resource.Modified.Time(),
		}, file)
		_ = file.Close() // only read from
		if errors.Is(err, archive.ErrContent) || isReadError(err) {
			s.files.NoteDamage(context.WithoutCancel(ctx), resource.Digest, err)
			return &errs.Error{Kind: errs.Internal, Code: errs.CodeDataDamaged, Err: err,
				Message: "the file of the resource " + resource.ID.String() + " is missing or damaged on the server"}
		}
		if err != nil {
			return err
		}
	}
}
