package v1

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"

	"labshelf/handlers/internal/exchange"
)

// leastCompressed is the shortest answer that is compressed, in bytes. A shorter answer fits into
// one packet, so compressing it saves no time.
const leastCompressed = 1400

// crossesNetwork reports whether the answer leaves this machine. Over loopback, compressing takes
// longer than sending.
func (a *api) crossesNetwork(r *http.Request) bool {
	client := a.hosts.Client(r)
	return client.IsValid() && !client.IsLoopback()
}

// sendPage answers with a page of a listing in JSON. Clients on other machines get an ETag of the
// encoded page, and gzip if they accept it. No other answers are compressed: the length of a
// compressed answer can reveal a secret in it, and most files are compressed already. It returns
// the errors of exchange.Send.
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
	_, _ = c.gzip.Write(body) // a bytes.Buffer returns no errors
	_ = c.gzip.Close()
	return c.out.Bytes()
}

// compressors is a pool of compressors. Each holds some 800 KiB of memory.
type compressors struct{ free sync.Pool }

func (p *compressors) begin() *compressor {
	if c, _ := p.free.Get().(*compressor); c != nil {
		return c
	}
	c := &compressor{}
	c.gzip, _ = gzip.NewWriterLevel(&c.out, gzip.BestSpeed) // the level is valid
	return c
}
