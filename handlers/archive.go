package handlers

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

// downloadArchive sends the files of a set as one zip, made while it is sent.
func (a fileRoutes) downloadArchive(w http.ResponseWriter, r *exchange.Request) error {
	files, err := a.repo.Files.OpenArchive(r.Context(), r.Caller, r.ID(), r.Query.Get("folder"), r.Query["resource"])
	if err != nil {
		return err
	}
	return a.streamArchive(w, r, files)
}

// streamArchive sends an archive, and closes it.
func (a fileRoutes) streamArchive(w http.ResponseWriter, r *exchange.Request, files *files.Archive) error {
	defer files.Close()
	header := w.Header()
	header.Set("Content-Type", "application/zip")
	header.Set("Content-Disposition", saveAs("attachment", files.Set.Name+".zip"))
	header.Set("Content-Security-Policy", contentSecurity("application/zip"))
	header.Set("Cache-Control", "no-store")
	header.Set("Accept-Ranges", "none")
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	sent := &startedWriter{Writer: w}
	err := a.sendArchive(r.Context(), sent, files)
	if err == nil {
		return nil
	}
	if !sent.started {
		return err
	}
	var known *errs.Error
	if errors.As(err, &known) { // else the client went away
		exchange.NoteError(w, err)
	}
	panic(http.ErrAbortHandler) // cuts the connection: without its last bytes the archive is not valid
}

// startedWriter knows whether anything of an answer has been sent.
type startedWriter struct {
	io.Writer
	started bool
}

func (b *startedWriter) Write(p []byte) (int, error) {
	b.started = true
	return b.Writer.Write(p)
}

// sendArchive writes every file, then the directory of the archive. After an error, which is no
// *errs.Error where it came from the connection, no part of the directory has been written.
func (a fileRoutes) sendArchive(ctx context.Context, to io.Writer, files *files.Archive) error {
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
			a.repo.Files.NoteDamage(context.WithoutCancel(ctx), resource.Digest, err)
			return &errs.Error{Kind: errs.Internal, Code: errs.CodeDataDamaged, Err: err,
				Message: "the file of the resource " + resource.ID.String() + " is missing or damaged on the server"}
		}
		if err != nil {
			return err
		}
	}
}
