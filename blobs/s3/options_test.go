package s3_test

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/blobs"
	"labshelf/blobs/s3"
	"labshelf/internal/servers"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][2]string{
		"s3://bucket": {"bucket", ""}, "s3://bucket/": {"bucket", ""}, "s3://a.bucket-1/lab/shelf_2": {"a.bucket-1", "lab/shelf_2"},
		"s3://bucket/prefix/": {"bucket", "prefix"},
	} {
		if bucket, prefix, err := s3.ParseAddress(address); err != nil || bucket != want[0] || prefix != want[1] {
			t.Errorf("%s: %q, %q, %v", address, bucket, prefix, err)
		}
	}
	for address, rule := range map[string]string{
		"": "form", "bucket/prefix": "form", "S3://bucket": "form", "https://bucket/prefix": "form", "s3://": "bucket", "s3:///prefix": "bucket", "s3://UPPER_/x": "bucket",
		"s3://bucket/a//b": "prefix", "s3://bucket/../x": "prefix", "s3://bucket/ä": "prefix", "s3://bucket/a b": "prefix", "s3://bucket/a%20b": "prefix",
		"s3://bucket/a?b": "prefix", "s3://bucket/" + strings.Repeat("x", 513): "prefix",
	} {
		if bucket, prefix, err := s3.ParseAddress(address); err == nil || !strings.Contains(err.Error(), rule) {
			t.Errorf("%s: %q, %q, %v", address, bucket, prefix, err)
		}
	}
}

// TestOptions tests that invalid options are reported before any request.
func TestOptions(t *testing.T) {
	t.Parallel()
	right := s3.Options{Endpoint: "https://s3.example.org", KeyID: "key", Secret: "not-a-secret"}
	for rule, change := range map[string]func(*s3.Options){
		"access key": func(o *s3.Options) { o.KeyID = "" }, "secret key": func(o *s3.Options) { o.Secret = "" },
		"s3.example.org\" is not": func(o *s3.Options) { o.Endpoint = "s3.example.org" }, "/path": func(o *s3.Options) { o.Endpoint += "/path" },
		"ftp": func(o *s3.Options) { o.Endpoint = "ftp://s3.example.org" }, "xxxxx": func(o *s3.Options) { o.Endpoint = "https://user:word@s3.example.org" },
	} {
		o := right
		change(&o)
		if _, err := s3.Connect("s3://bucket/prefix", o, time.Minute); err == nil || !strings.Contains(err.Error(), rule) || strings.Contains(err.Error(), "word@") {
			t.Errorf("%s: %v", rule, err)
		}
	}
	for _, endpoint := range []string{"", "https://s3.example.org", "http://127.0.0.1:9000/"} {
		o := right
		o.Endpoint = endpoint
		store, err := s3.Connect("s3://bucket/prefix", o, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		store.Close()
	}
}

// TestUnreachable tests that a store with an unreachable bucket cannot be opened.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	server := servers.StartS3(t)
	wrong := options(server)
	wrong.Secret = "wrong"
	bucket := "s3://" + server.Bucket(t)
	for address, o := range map[string]s3.Options{bucket: wrong, "s3://no-such-bucket/x": options(server)} {
		if _, err := s3.Open(t.Context(), address, o); !errors.Is(err, blobs.ErrUnavailable) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := s3.Open(t.Context(), bucket, options(server)); !errors.Is(err, blobs.ErrUnavailable) {
		t.Errorf("a stopped server: %v", err)
	}
}

// TestClaim tests that one repository owns a prefix, and remains its owner.
func TestClaim(t *testing.T) {
	t.Parallel()
	store, server := open(t)
	other := openAt(t, "s3://bucket-1/some/prefix2", options(server))
	for _, try := range []struct {
		store *s3.Store
		owner string
		want  error
	}{{store, "first", nil}, {store, "second", s3.ErrOwned}, {store, "first", nil}, {other, "second", nil}, {other, "first", s3.ErrOwned}} {
		if err := try.store.Claim(t.Context(), try.owner); !errors.Is(err, try.want) {
			t.Errorf("%s: %v", try.owner, err)
		}
	}
	var won atomic.Int64
	var group sync.WaitGroup
	at := openAt(t, "s3://bucket-1/another", options(server))
	for i := range 8 {
		group.Go(func() {
			switch err := at.Claim(t.Context(), strconv.Itoa(i)); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, s3.ErrOwned):
				t.Error(err)
			}
		})
	}
	if group.Wait(); won.Load() != 1 {
		t.Errorf("%d of 8 concurrent claims have succeeded", won.Load())
	}
	if all := objects(t, store); len(all) != 0 {
		t.Errorf("the owner file is listed as an object: %+v", all)
	}
	if _, err := store.Stage(t.Context(), strings.NewReader("x"), 0); err != nil {
		t.Fatal(err)
	}
	if all := objects(t, other); len(all) != 0 {
		t.Errorf("an object below another prefix is listed: %+v", all)
	}
}

// TestPresign downloads a blob from its presigned URL.
func TestPresign(t *testing.T) {
	t.Parallel()
	store, server := open(t)
	body := content(17 << 20)
	staged, err := store.Stage(t.Context(), blobs.WithLength(strings.NewReader(string(body)), int64(len(body))), 0)
	if err != nil {
		t.Fatal(err)
	}
	b := staged.Content().Blob
	attachment := blobs.Attachment{Filename: `Grüße "2".csv`, MediaType: "text/csv; charset=utf-8", Valid: time.Minute}
	address, err := store.Presign(t.Context(), b, attachment)
	if err != nil || !strings.HasPrefix(address, server.Endpoint()+"/bucket-1/some/prefix/"+b.Object+"?") {
		t.Fatal(address, err)
	}
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil || !slices.Equal(got, body) {
		t.Errorf("the response has %d bytes, %s: %v", len(got), answer.Status, err)
	}
	kind, params, err := mime.ParseMediaType(answer.Header.Get("Content-Disposition"))
	if err != nil || kind != "attachment" || params["filename"] != attachment.Filename || answer.Header.Get("Content-Type") != attachment.MediaType ||
		answer.Header.Get("Content-Encoding") == "aws-chunked" {
		t.Errorf("it answers with %v", answer.Header)
	}
	answer, err = http.Get(strings.Replace(address, b.Object, b.Object+"x", 1))
	if err != nil || answer.Body.Close() != nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("the response for another object is %v, %v", answer, err)
	}
	for _, valid := range []time.Duration{0, 61 * time.Second} {
		attachment.Valid = valid
		if _, err := store.Presign(t.Context(), b, attachment); err == nil {
			t.Errorf("a URL can be valid for %v", valid)
		}
	}
}
