package handlers_test

import (
	"crypto/md5"
	"crypto/sha1"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

func TestTusChecksum(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	at := s.begin(9, "setId", s.newSet(), "filename", "a")
	sha, md := sha1.Sum([]byte("abc")), md5.Sum([]byte("def"))
	right := "Upload-Checksum: sha1 " + base64.StdEncoding.EncodeToString(sha[:])
	s.chunk(at, 0, "abd", right).problem(460, "checksum_mismatch", "Upload-Checksum")
	s.stands(at, 0, 9)
	s.bad("PATCH", at, raw{"application/offset+octet-stream", []byte("abc")}, inTus, "Upload-Offset: 0", "Upload-Checksum: crc32 AAAA").problem(http.StatusBadRequest, "invalid_field", "Upload-Checksum")
	s.chunk(at, 0, "abc", right).want(http.StatusNoContent)
	s.chunk(at, 3, "def", "Upload-Checksum: md5 "+base64.StdEncoding.EncodeToString(md[:])).want(http.StatusNoContent)
	s.chunk(at, 6, "ghj", "Content-Digest: sha-256=:"+digest64("ghi")+":").problem(http.StatusBadRequest, "digest_mismatch", "")
	s.stands(at, 6, 9)
	path := strings.TrimPrefix(at, s.server.URL)
	conn, _ := s.dial("PATCH %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n%s\r\nUpload-Offset: 6\r\n%s\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: 3\r\n\r\ngh", path, s.key, inTus, right)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	s.stands(at, 6, 9) // unverifiable bytes are discarded
	made := s.chunk(at, 6, "ghi", "Content-Digest: sha-256=:"+digest64("ghi")+":").want(http.StatusNoContent).header.Get("Labshelf-Resource")
	same(t, "the file", string(s.get(made+"/data").body), "abcdefghi")
}

// TestTusDigestAtTheEnd tests that a client may send the digest of the file with any chunk, and
// that a file with another digest is refused. A digest cannot be changed later.
func TestTusDigestAtTheEnd(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	right, wrong := "Labshelf-SHA256: "+sha256Hex("abcdef"), "Labshelf-SHA256: "+sha256Hex("abcxyz")
	at := s.begin(6, "setId", set, "filename", "a")
	for _, bad := range []string{"nonsense", "", strings.Repeat("0", 64), sha256Hex("x") + "0"} {
		s.bad("PATCH", at, raw{"application/offset+octet-stream", []byte("abc")}, inTus, "Upload-Offset: 0", "Labshelf-SHA256: "+bad).
			problem(http.StatusBadRequest, "invalid_field", "Labshelf-SHA256")
	}
	s.stands(at, 0, 6)
	s.chunk(at, 0, "abc").want(http.StatusNoContent)
	made := s.chunk(at, 3, "def", right).want(http.StatusNoContent).header.Get("Labshelf-Resource")
	same(t, "the file", string(s.get(made+"/data").body), "abcdef")

	s.chunk(at, 6, "", right).want(http.StatusNoContent)
	for _, early := range []string{right, ""} {
		at = s.begin(6, "setId", set, "filename", "by itself")
		s.chunk(at, 0, "abc").want(http.StatusNoContent)
		if early != "" {
			s.chunk(at, 3, "", early).want(http.StatusNoContent)
			s.chunk(at, 3, "", wrong).problem(http.StatusBadRequest, "digest_mismatch", "Labshelf-SHA256")
		}
		s.chunk(at, 3, "def").want(http.StatusNoContent)
		s.chunk(at, 6, "", wrong).problem(http.StatusBadRequest, "digest_mismatch", "Labshelf-SHA256")
		s.chunk(at, 6, "", right).want(http.StatusNoContent)
	}

	at = s.begin(6, "setId", set, "filename", "b")
	s.chunk(at, 0, "abc", wrong).want(http.StatusNoContent)
	s.chunk(at, 3, "def", right).problem(http.StatusBadRequest, "digest_mismatch", "Labshelf-SHA256")
	s.stands(at, 3, 6)
	s.chunk(at, 3, "def").problem(http.StatusBadRequest, "digest_mismatch", "sha256")
	s.refusedHead(at, http.StatusBadRequest)

	at = s.begin(6, "setId", set, "filename", "c", "sha256", sha256Hex("abcdef"))
	s.chunk(at, 0, "abc", wrong).problem(http.StatusBadRequest, "digest_mismatch", "Labshelf-SHA256")
	s.chunk(at, 0, "abcdef", right).want(http.StatusNoContent)

	named := uploadMetadata("setId", set, "filename", "d")
	at = s.send("POST", "/uploads", nil, inTus, "Upload-Length: 6", named, right).want(http.StatusCreated).header.Get("Location")
	s.chunk(at, 0, "abcxyz").problem(http.StatusBadRequest, "digest_mismatch", "sha256")
	s.send("POST", "/uploads", nil, inTus, "Upload-Length: 6", uploadMetadata("setId", set, "filename", "e", "sha256", sha256Hex("abcxyz")), right).
		problem(http.StatusBadRequest, "digest_mismatch", "Labshelf-SHA256")
	same(t, "resources", len(s.get("/sets/" + set + "/resources").want(200).object()["data"].([]any)), 4)
}
