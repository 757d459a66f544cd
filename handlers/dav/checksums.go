package dav

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"hash/adler32"
	"io"
	"strings"

	"labshelf/auth/errs"
	"labshelf/repository/files"
)

// ocSpace is the namespace of properties of ownCloud.
const ocSpace = "http://owncloud.org/ns"

// checksum is a checksum announced by a client.
type checksum struct{ algorithm, want string }

// checksums are the algorithms of the OC-Checksum header, which ownCloud clients send.
var checksums = map[string]func() hash.Hash{
	"SHA256": sha256.New, "SHA1": sha1.New, "MD5": md5.New, "ADLER32": func() hash.Hash { return adler32.New() },
}

// announced parses OC-Checksum headers. It ignores unknown algorithms.
func announced(headers []string) (sums []checksum, err error) {
	for _, text := range strings.FieldsFunc(strings.Join(headers, " "), func(c rune) bool { return c == ' ' || c == ',' }) {
		algorithm, want, _ := strings.Cut(text, ":")
		algorithm, want = strings.ToUpper(algorithm), strings.ToLower(want)
		start := checksums[algorithm]
		if start == nil {
			continue
		}
		if raw, err := hex.DecodeString(want); err != nil || len(raw) != start().Size() {
			return nil, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: "OC-Checksum", Message: "OC-Checksum must be " + algorithm + " and its hexadecimal digits, with a colon between"}
		}
		sums = append(sums, checksum{algorithm, want})
	}
	return sums, nil
}

// summing is a body whose checksums are computed while it is read: the announced ones and those
// that are stored. Another goroutine computes them, so that reading continues in the meantime.
type summing struct {
	io.Reader
	sums  map[string]hash.Hash // by algorithm
	full  chan []byte          // buffers to be hashed
	empty chan []byte          // free buffers
	done  chan struct{}        // closed when everything is hashed
	ended bool
}

const (
	hashedAtOnce = 128 << 10
	hashedAhead  = 4 // buffers
)

func newSumming(body io.Reader, announced []checksum) *summing {
	s := &summing{Reader: body, full: make(chan []byte, hashedAhead), empty: make(chan []byte, hashedAhead), done: make(chan struct{})}
	s.sums = map[string]hash.Hash{"SHA1": sha1.New(), "MD5": md5.New()}
	for _, sum := range announced {
		if s.sums[sum.algorithm] == nil {
			s.sums[sum.algorithm] = checksums[sum.algorithm]()
		}
	}
	for range hashedAhead {
		s.empty <- nil
	}
	go func() {
		defer close(s.done)
		for p := range s.full {
			for _, sum := range s.sums {
				sum.Write(p)
			}
			s.empty <- p
		}
	}()
	return s
}

// Read implements io.Reader.
func (s *summing) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p[:min(len(p), hashedAtOnce)])
	if n > 0 {
		s.full <- append((<-s.empty)[:0], p[:n]...)
	}
	return n, err
}

// end waits until all bytes read so far are hashed.
func (s *summing) end() {
	if !s.ended {
		s.ended = true
		close(s.full)
	}
	<-s.done
}

// compare compares the body with the announced checksums. It returns the checksums to store, or nil
// if none was announced.
func (s *summing) compare(announced []checksum) (*files.Checksums, error) {
	if s == nil {
		return nil, nil
	}
	s.end()
	for _, sum := range announced {
		if got := hex.EncodeToString(s.sums[sum.algorithm].Sum(nil)); got != sum.want {
			return nil, &errs.Error{Kind: errs.Invalid, Code: errs.CodeDigestMismatch, Field: "OC-Checksum",
				Message: "the body that arrived has the " + sum.algorithm + " " + got + ", not the one announced; nothing was stored"}
		}
	}
	return &files.Checksums{SHA1: [sha1.Size]byte(s.sums["SHA1"].Sum(nil)), MD5: [md5.Size]byte(s.sums["MD5"].Sum(nil))}, nil
}

// appendChecksums appends the content of the property oc:checksums.
func appendChecksums(text []byte, e *shown) []byte {
	if e.folder() {
		return text
	}
	text = append(text, "<oc:checksum>"...)
	if sums, known := e.Checksums(); known {
		text = append(hex.AppendEncode(append(text, "SHA1:"...), sums.SHA1[:]), ' ')
		text = append(hex.AppendEncode(append(text, "MD5:"...), sums.MD5[:]), ' ')
	}
	return append(hex.AppendEncode(append(text, "SHA256:"...), e.File.Digest[:]), "</oc:checksum>"...)
}

// maxHashed limits the bytes that one request reads to compute missing checksums.
const maxHashed = 512 << 20

// hash computes the checksums of the added files that have none, and reports whether it stored any.
func (p *propfinding) hash(r *request) bool {
	files := p.unhashed
	p.unhashed = p.unhashed[:0]
	if len(files) == 0 || p.hashed >= maxHashed {
		return false
	}
	read, stored, err := p.drive.repo.Files.ComputeChecksums(r.Context(), r.caller, files, maxHashed-p.hashed)
	p.hashed += read
	return err == nil && stored > 0 // otherwise the answer has only the SHA-256
}
