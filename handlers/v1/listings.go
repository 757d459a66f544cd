package v1

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"

	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/wire"
	"labshelf/repository/core"
)

// writePage answers with one page of the listing at the request's path.
func writePage[T, J any](a *api, w http.ResponseWriter, r *exchange.Request, page core.Page[T], show func(T) J) {
	_ = a.sendPage(w, r, encode.JSON(pageOf(a.hosts.Base(r.Request), r, page, show))) // a client that went away gets no error
}

// pageOf is one page of the listing at the request's path.
func pageOf[T, J any](base string, r *exchange.Request, page core.Page[T], show func(T) J) any {
	if len(page.Items) == 0 {
		return wire.End{End: true}
	}
	address := base + r.Path + exchange.Results
	shown := wire.Page[J]{NextPage: address + page.Next, CurrentPage: address + page.Current, Data: make([]J, len(page.Items))}
	for i, item := range page.Items {
		shown.Data[i] = show(item)
	}
	return shown
}

// leastCompressed is the shortest answer that is compressed, in bytes: what fits into one packet
// takes as long either way.
const leastCompressed = 1400

// crossesNetwork tells whether the answer leaves this machine. Over loopback compressing takes
// longer than sending.
func (a *api) crossesNetwork(r *http.Request) bool {
	client := a.hosts.Client(r)
	return client.IsValid() && !client.IsLoopback()
}

// sendPage answers with a page of a listing, in JSON. To a client elsewhere it has an ETag, which
// is that of its encoding, and it is compressed if the client accepts that. Nothing else is
// compressed: the length of a compressed answer reveals something of a secret in it, and files are
// mostly compressed already. The error is that of exchange.Send.
func (a *api) sendPage(w http.ResponseWriter, r *exchange.Request, page []byte) error {
	if !a.crossesNetwork(r.Request) {
		return exchange.Send(w, http.StatusOK, exchange.JSONType, page)
	}
	header, sum := w.Header(), sha256.Sum256(page)
	header.Add("Vary", "Accept-Encoding")
	tag := hex.EncodeToString(sum[:16])
	if len(page) < leastCompressed || !exchange.AcceptsGzip(r) {
		if exchange.NotModified(w, r, tag) {
			return nil
		}
		return exchange.Send(w, http.StatusOK, exchange.JSONType, page)
	}
	if exchange.NotModified(w, r, tag+"-gzip") {
		return nil
	}
	header.Set("Content-Encoding", "gzip")
	c := a.compressors.begin()
	err := exchange.Send(w, http.StatusOK, exchange.JSONType, c.compress(page))
	if err == nil {
		a.compressors.free.Put(c)
	}
	return err
}

// compressor compresses one answer at a time.
type compressor struct {
	gzip *gzip.Writer
	out  bytes.Buffer
}

// compress returns body as gzip, valid until the next call.
func (c *compressor) compress(body []byte) []byte {
	c.out.Reset()
	c.gzip.Reset(&c.out)
	_, _ = c.gzip.Write(body) // into memory
	_ = c.gzip.Close()
	return c.out.Bytes()
}

// compressors is a pool of compressors: each has some 800 KiB of memory.
type compressors struct{ free sync.Pool }

func (p *compressors) begin() *compressor {
	if c, _ := p.free.Get().(*compressor); c != nil {
		return c
	}
	c := &compressor{}
	c.gzip, _ = gzip.NewWriterLevel(&c.out, gzip.BestSpeed) // a level that there is
	return c
}
