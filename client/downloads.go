package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs/digest"
)

// ErrDigest is returned by the reader of a file whose bytes do not match the announced SHA-256.
var ErrDigest = errors.New("the SHA-256 of the received file differs from the announced SHA-256")

// File is a download of a resource's file. It begins at byte From; Bytes is the number of bytes to
// come. If the connection breaks, reading resumes with the rest of the same bytes, as the client's
// Retries allow; if these no longer exist, it fails with ErrIncomplete. After a complete download
// the digest is compared: the last Read returns ErrDigest instead of io.EOF if it differs. The
// caller closes it.
type File struct {
	*Download
	From, Total int64         // the first byte of the download, and the length of the complete file
	Digest      digest.Digest // of the complete file
	ETag        string        // of the file, not of its record; for ifMatch of Resources.Data
	Mimetype    string
	Filename    string // for saving the file, without folders
}

// Data requests the file of a resource, beginning at the given byte. If ifMatch is not "", the file
// must have that ETag (of File). To resume an earlier download, pass the number of received bytes
// and its ETag: status 412 means that the file was replaced. If from is the length of the file, the
// File is empty.
func (s Resources) Data(ctx context.Context, id string, from int64, ifMatch string) (*File, error) {
	return s.c.resumed(ctx, at("resources", id, "data"), from, ifMatch)
}

// resumed is like Data for the file at a path.
func (c *caller) resumed(ctx context.Context, path string, from int64, ifMatch string) (*File, error) {
	f, err := c.data(ctx, path, from, ifMatch)
	if err != nil {
		return nil, err
	}
	r := &resuming{body: f.ReadCloser, at: f.From, total: f.Total, digest: f.Digest, retries: c.retries()}
	if f.From == 0 {
		r.hash = sha256.New()
	}
	r.wait = func(d time.Duration) error { return r.retries.Wait(ctx, d) }
	r.open = func(from int64) (io.ReadCloser, error) {
		if ctx.Err() != nil || f.ETag == "" {
			return nil, cmp.Or(ctx.Err(), ErrIncomplete)
		}
		rest, err := c.data(ctx, path, from, f.ETag)
		if err != nil {
			return nil, err
		}
		return rest.ReadCloser, nil
	}
	f.ReadCloser = r
	return f, nil
}

// data requests a file once; its reader fails if the connection breaks.
func (c *caller) data(ctx context.Context, path string, from int64, ifMatch string) (*File, error) {
	if from < 0 {
		return nil, fmt.Errorf("a file cannot be requested from byte %d on", from)
	}
	r := request{method: http.MethodGet, path: path}.with("If-Match", ifMatch)
	if from > 0 {
		// The previous byte is requested, too: a range that begins at the end of a file is not
		// satisfiable.
		r = r.with("Range", fmt.Sprintf("bytes=%d-", from-1))
	}
	var f *File
	err := c.run(ctx, r, func(response *http.Response) (err error) {
		f, err = fileOf(response, from)
		if err != nil {
			return errors.Join(err, response.Body.Close())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// fileOf reads the headers of a response, and skips the byte before from.
func fileOf(response *http.Response, from int64) (*File, error) {
	f := &File{Download: download(response), From: from, Total: response.ContentLength, ETag: response.Header.Get("Etag"), Mimetype: response.Header.Get("Content-Type")}
	foreign := &Problem{Status: response.StatusCode}
	if from > 0 && response.StatusCode == http.StatusOK && response.ContentLength == 0 { // an empty file has no ranges
		return nil, &Problem{Status: http.StatusRequestedRangeNotSatisfiable, Code: errs.CodeRange, Detail: "the file is empty"}
	}
	if from > 0 {
		begin, total, ok := contentRange(response.Header.Get("Content-Range"))
		if response.StatusCode != http.StatusPartialContent || !ok || begin != from-1 || response.ContentLength != total-begin {
			return nil, foreign
		}
		if _, err := io.ReadFull(f, make([]byte, 1)); err != nil {
			return nil, err
		}
		f.Bytes, f.Total = total-from, total
	}
	sum, sent := strings.CutPrefix(response.Header.Get("Repr-Digest"), "sha-256=:")
	sha, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(sum, ":"))
	if !sent || err != nil || len(sha) != len(f.Digest) || f.Total < 0 {
		return nil, foreign
	}
	f.Digest = digest.Digest(sha)
	_, params, _ := mime.ParseMediaType(response.Header.Get("Content-Disposition"))
	name := params["filename"]
	f.Filename = name[strings.LastIndexAny(name, `/\`)+1:]
	return f, nil
}

// contentRange parses the range in a response, as in "bytes 3-9/10".
func contentRange(value string) (begin, total int64, ok bool) {
	part, of, _ := strings.Cut(strings.TrimPrefix(value, "bytes "), "/")
	first, _, _ := strings.Cut(part, "-")
	begin, err := strconv.ParseInt(first, 10, 64)
	total, wrong := strconv.ParseInt(of, 10, 64)
	return begin, total, err == nil && wrong == nil && begin >= 0 && begin < total
}

// resuming is the body of a file that resumes after a broken connection.
type resuming struct {
	body      io.ReadCloser
	at, total int64
	hash      hash.Hash // of all received bytes; nil: not from the beginning
	digest    digest.Digest
	open      func(from int64) (io.ReadCloser, error)
	wait      func(time.Duration) error
	retries   Retries
	breaks    int // since the last received byte
}

func (r *resuming) Read(p []byte) (int, error) {
	for {
		n, err := r.body.Read(p)
		r.at += int64(n)
		if r.hash != nil {
			r.hash.Write(p[:n])
		}
		switch {
		case n > 0:
			r.breaks = 0
			return n, nil // the next Read returns an error again
		case err == nil:
			return 0, nil
		case err == io.EOF:
			return 0, r.finish()
		}
		if err := r.resume(err); err != nil {
			return 0, err
		}
	}
}

func (r *resuming) finish() error {
	if r.at != r.total {
		return fmt.Errorf("%w: %d of %d bytes were received", ErrIncomplete, r.at, r.total)
	}
	if r.hash != nil && digest.Digest(r.hash.Sum(nil)) != r.digest {
		return ErrDigest
	}
	return io.EOF
}

// resume opens the rest of the file after an error.
func (r *resuming) resume(broke error) error {
	r.breaks++
	if r.breaks >= r.retries.Tries {
		return broke
	}
	if err := r.wait(r.retries.pause(r.breaks)); err != nil {
		return fmt.Errorf("%w: %w", broke, err)
	}
	rest, err := r.open(r.at)
	if err != nil {
		return fmt.Errorf("%w, and the rest cannot be requested: %w", broke, err)
	}
	_ = r.body.Close() // already failed
	r.body = rest
	return nil
}

func (r *resuming) Close() error { return r.body.Close() }

// errRedirect is wrapped by the error of a download that is redirected to an address that this
// client does not follow.
var errRedirect = errors.New("the service redirects the download")

// follow requests a file from the address that the service redirects to, without the key: an S3
// with a signed URL. The headers of the service describe the file, not the headers of the S3. From
// https, follow goes only to https, and from a public service only to public addresses, so that no
// service can make this machine send requests into its own network.
func (c *caller) follow(asked *http.Request, answer *http.Response) (*http.Response, error) {
	at, err := answer.Location()
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return nil, err
	}
	if asked.URL.Scheme == "https" && at.Scheme != "https" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, fmt.Errorf("%w from %s to %s, which is not encrypted", errRedirect, asked.URL.Scheme, at.Scheme)
	}
	request, err := http.NewRequestWithContext(asked.Context(), http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	if part := asked.Header.Get("Range"); part != "" {
		request.Header.Set("Range", part)
	}
	through := c.elsewhere
	if proxy, err := http.ProxyFromEnvironment(request); proxy != nil || err != nil || isLocal(asked.Context(), asked.URL) {
		through = c.http // a proxy decides, or the service itself is in this network
	}
	response, err := through.Do(request)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"Etag", "Repr-Digest"} {
		response.Header[name] = answer.Header[name]
	}
	return response, nil
}

// toPublic returns a transport that connects to public addresses only. It checks the dialled
// address, whatever name led to it.
func toPublic(like *http.Transport) *http.Transport {
	transport := like.Clone()
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !isPublic(at.Addr()) {
			return fmt.Errorf("%w to %s, an address that is not public", errRedirect, address)
		}
		return nil
	}}
	transport.DialContext = dialer.DialContext
	return transport
}

func isPublic(address netip.Addr) bool {
	address = address.Unmap()
	return address.IsGlobalUnicast() && !address.IsPrivate() && !sharedAddresses.Contains(address)
}

// sharedAddresses are the addresses of RFC 6598, which providers use behind their own NAT.
var sharedAddresses = netip.MustParsePrefix("100.64.0.0/10")

// isLocal reports whether the host of an address is in this machine or a private network.
func isLocal(ctx context.Context, at *url.URL) bool {
	if strings.EqualFold(at.Hostname(), "localhost") {
		return true
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", at.Hostname())
	for _, address := range all {
		if isPublic(address) {
			return false
		}
	}
	return err == nil && len(all) > 0
}
