package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
)

// noise returns incompressible bytes, the same bytes at each call.
func noise(size int) []byte {
	bytes := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(bytes) // never fails
	return bytes
}

// stamp writes n into the first 8 bytes of a body, so that bodies with different numbers differ.
func stamp(body []byte, n uint64) { binary.BigEndian.PutUint64(body, n) }

// body returns the body with the number n.
func body(size int, n uint64) []byte {
	made := noise(size)
	stamp(made, n)
	return made
}

// digestOf returns the SHA-256 of a body in hexadecimal.
func digestOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// blockSize is the size of the blocks of a large body. A block fits into the cache of a processor,
// so generating and comparing the body costs little compared with the measured work.
const blockSize = 256 << 10

// large is a large body of blocks that differ by their number. Blocks are generated when they are
// read. A body can be read once. Its size is a multiple of blockSize.
type large struct {
	block []byte
	size  int64
	at    int64
}

func newLarge(size int64) *large { return &large{block: noise(blockSize), size: size} }

// next returns the next block, valid until the next call, and nil after the last.
func (l *large) next() []byte {
	if l.at == l.size {
		return nil
	}
	stamp(l.block, uint64(l.at))
	l.at += blockSize
	return l.block
}

// digest returns the SHA-256 of the whole body in hexadecimal.
func (l *large) digest(sum hash.Hash) string {
	for block := l.next(); block != nil; block = l.next() {
		sum.Write(block)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// check compares a buffer with the next bytes of the large body.
func (l *large) check(buffer []byte) error {
	for len(buffer) > 0 {
		within := int(l.at % blockSize)
		if within == 0 {
			stamp(l.block, uint64(l.at))
		}
		n := min(len(buffer), blockSize-within)
		if l.at+int64(n) > l.size || !bytes.Equal(buffer[:n], l.block[within:within+n]) {
			return fmt.Errorf("the content differs from the upload, at byte %d or in the next %d bytes", l.at, n)
		}
		l.at += int64(n)
		buffer = buffer[n:]
	}
	return nil
}

// boundary separates the parts of each upload.
const boundary = "bench-boundary-of-the-parts-that-no-body-has"

// uploadHead returns the beginning of an upload request for a file of size bytes, from the request
// line to the header of the file's part. The bytes of the file and uploadTail must follow.
func uploadHead(p peer, set, filename string, size int64) []byte {
	return formHead(p, "POST", "/resources",
		fmt.Sprintf("--%s\r\nContent-Disposition: form-data; name=\"setId\"\r\n\r\n%s\r\n", boundary, set), filename, size)
}

// replaceHead is like uploadHead, but for a request that replaces the file of a resource.
func replaceHead(p peer, resource, filename string, size int64) []byte {
	return formHead(p, "PUT", "/resources/"+resource, "", filename, size)
}

func formHead(p peer, method, path, fields, filename string, size int64) []byte {
	part := fields + fmt.Sprintf(
		"--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\nContent-Type: application/octet-stream\r\n\r\n", boundary, filename)
	length := int64(len(part)+len(uploadTail)) + size
	return append(p.request(method, path,
		fmt.Sprintf("Content-Type: multipart/form-data; boundary=%s\r\nContent-Length: %d\r\n", boundary, length)), part...)
}

const uploadTail = "\r\n--" + boundary + "--\r\n"

// filenameOf returns the file name for a number. All names have the same length.
func filenameOf(n uint64) string { return fmt.Sprintf("%016x.dat", n) }

// uploader uploads small files that are all different, over one connection. It is not safe for
// concurrent use.
type uploader struct {
	wire           *wire
	request        []byte // the whole request; filename and body are slices of it
	filename, body []byte
	next           func() uint64 // returns an unused number
	resource       []byte        // for replacements: the id in the request, a slice of it
	resources      []receipt     // to replace in turn, keeping their names; nil: each upload creates a resource
	receipts       []receipt
}

// receipt describes an acknowledged upload.
type receipt struct {
	number     uint64
	id, digest string
}

func newUploader(w *wire, p peer, set string, size int, next func() uint64) *uploader {
	return uploaderOf(w, uploadHead(p, set, filenameOf(0), int64(size)), size, next)
}

// newReplacer returns an uploader that replaces the files of the resources in turn. The files keep
// their names.
func newReplacer(w *wire, p peer, resources []receipt, size int, next func() uint64) *uploader {
	first := resources[0].id
	u := uploaderOf(w, replaceHead(p, first, filenameOf(0), int64(size)), size, next)
	from := bytes.Index(u.request, []byte(first))
	u.resource, u.resources = u.request[from:from+len(first)], resources
	return u
}

func uploaderOf(w *wire, request []byte, size int, next func() uint64) *uploader {
	from := bytes.Index(request, []byte(filenameOf(0)))
	head := len(request)
	request = append(append(request, noise(size)...), uploadTail...)
	return &uploader{wire: w, request: request, next: next,
		filename: request[from : from+len(filenameOf(0))], body: request[head : head+size]}
}

// upload uploads the next file.
func (u *uploader) upload() error {
	n := u.next()
	named, status := n, 201
	if u.resources != nil {
		r := u.resources[len(u.receipts)%len(u.resources)]
		copy(u.resource, r.id)
		named, status = r.number, 200
	}
	copy(u.filename, filenameOf(named))
	stamp(u.body, n)
	answer, err := u.wire.want(status, u.request)
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	u.receipts = append(u.receipts, receipt{n, textField(answer, "id"), textField(answer, "sha256")})
	return nil
}

// verify compares all receipts with the uploaded files. Call it after the measured time.
func (u *uploader) verify() error {
	for _, r := range u.receipts {
		stamp(u.body, r.number)
		if digestOf(u.body) != r.digest || r.id == "" {
			return fmt.Errorf("upload %d: the service returned the id %q and the digest %s", r.number, r.id, r.digest)
		}
	}
	return nil
}

// send sends a large body.
func (l *large) send(w io.Writer) error {
	for block := l.next(); block != nil; block = l.next() {
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// uploadLarge uploads a large body over a connection, and compares the digest in the answer with
// digest.
func uploadLarge(w *wire, p peer, set string, l *large, digest string) (id string, err error) {
	_, err = w.conn.Write(uploadHead(p, set, "large.dat", l.size))
	if err == nil {
		err = l.send(w.conn)
	}
	if err == nil {
		_, err = io.WriteString(w.conn, uploadTail)
	}
	if err != nil {
		return "", err
	}
	answer, err := w.answer(201)
	if err != nil {
		return "", err
	}
	id = textField(answer, "id")
	if got := textField(answer, "sha256"); got != digest || id == "" {
		return "", errors.New("large upload: the service returned the id " + id + " and the digest " + got)
	}
	return id, nil
}
