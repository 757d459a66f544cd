package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"labshelf/blobs"
	"labshelf/blobs/s3"
	"labshelf/internal/servers"
)

// TestMain shortens the delays between retries.
func TestMain(m *testing.M) {
	minio.DefaultRetryUnit, minio.DefaultRetryCap = time.Millisecond, 10*time.Millisecond
	os.Exit(m.Run())
}

// rounds returns the number of times that each fault is combined with each use. As in
// verify/faults, it is 50 with FAULTS_SIZE=long.
func rounds() int {
	if os.Getenv("FAULTS_SIZE") == "long" {
		return 50
	}
	return 1
}

const lie = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// faultKinds are the faults of an S3 server. A negative number is replaced by a random one.
var faultKinds = map[string]struct {
	fault  servers.Fault
	method string // method of the affected requests; "" for all methods
}{
	"500":                       {servers.Fault{Status: 500}, ""},
	"503":                       {servers.Fault{Status: 503}, ""},
	"500 when it is done":       {servers.Fault{Status: 500, Done: true}, ""},
	"503 when it is done":       {servers.Fault{Status: 503, Done: true}, ""},
	"slow":                      {servers.Fault{Delay: 100 * time.Millisecond, Rate: 16 << 20}, ""},
	"cutting a request":         {servers.Fault{CutRequest: servers.At(-1)}, ""},
	"cutting an answer":         {servers.Fault{CutAnswer: servers.At(-1)}, ""},
	"changing a byte":           {servers.Fault{Flip: servers.At(-1)}, ""},
	"lying that it has stored":  {servers.Fault{Status: 200}, http.MethodPut},
	"lying about a checksum":    {servers.Fault{Header: map[string]string{"X-Amz-Checksum-Sha256": lie}}, http.MethodPut},
	"HEAD with a wrong sum":     {servers.Fault{Header: map[string]string{"X-Amz-Checksum-Sha256": lie}}, http.MethodHead},
	"HEAD without a sum":        {servers.Fault{Header: map[string]string{"X-Amz-Checksum-Sha256": ""}}, http.MethodHead},
	"HEAD with a wrong size":    {servers.Fault{Header: map[string]string{"Content-Length": "12345"}}, http.MethodHead},
	"HEAD of an object unknown": {servers.Fault{Status: 404}, http.MethodHead},
	"GET of an object unknown":  {servers.Fault{Status: 404}, http.MethodGet},
	"GET with another tag":      {servers.Fault{Header: map[string]string{"ETag": `"lie"`}}, http.MethodGet},
}

// TestFaults combines each use of a store with each kind of fault, once or permanently.
// Acknowledged blobs must have the sent bytes, complete reads must return the stored bytes, and a
// retry without the fault must succeed.
func TestFaults(t *testing.T) {
	t.Parallel()
	server := servers.StartS3(t)
	bucket := server.Bucket(t)
	for name, kind := range faultKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := servers.StartFaults(t, server)
			o := options(server)
			prefix := strings.ReplaceAll(name, " ", "-")
			f := &faulty{T: t, clean: openAt(t, "s3://"+bucket+"/"+prefix, o), folder: filepath.Join(server.Folder(bucket), prefix)}
			o.Endpoint = proxy.Endpoint()
			f.store = openAt(t, "s3://"+bucket+"/"+prefix, o)
			for round := range rounds() {
				for use, try := range map[string]func() error{
					"put": f.put(100 << 10), "stream": f.stream, "parts": f.put(17 << 20), "all": f.commitAll, "resume": f.resume,
					"read": f.read(100 << 10), "read more": f.read(3 << 20), "seek": f.seek,
				} {
					if (use == "seek" || use == "read more") && kind.fault.Flip != nil {
						continue // only bodies that fit into memory are hashed
					}
					skip, last := rand.IntN(3), rand.IntN(2) == 0
					f.begin = func() { proxy.Rule(ruleOf(kind.fault, kind.method, skip, last)) }
					f.end = func() { proxy.Rule(nil) }
					if err := try(); err != nil {
						t.Errorf("round %d, %s, after %d requests, once %t: %v", round, use, skip, last, err)
					}
				}
				for _, o := range objects(t, f.clean) { // the disk is too small for the objects of all rounds
					if err := f.clean.DeleteObject(t.Context(), o); err != nil {
						t.Error(err)
					}
				}
			}
			if _, spoiled := proxy.Count(); spoiled == 0 {
				t.Error("no request had a fault")
			}
		})
	}
}

// ruleOf returns a rule that applies the fault to requests with a method, after the first skip
// ones: to one of them, or to all.
func ruleOf(fault servers.Fault, method string, skip int, once bool) func(*http.Request) servers.Fault {
	for _, at := range []**int64{&fault.CutRequest, &fault.CutAnswer, &fault.Flip} {
		if *at != nil {
			*at = servers.At(rand.Int64N([]int64{10, 1000, 64 << 10, 1 << 20}[rand.IntN(4)]))
		}
	}
	seen := 0
	return func(r *http.Request) servers.Fault {
		if method != "" && r.Method != method || r.Method == http.MethodDelete {
			return servers.Fault{}
		}
		seen++
		if seen <= skip || once && seen > skip+1 {
			return servers.Fault{}
		}
		return fault
	}
}

// faulty is a store with faults, and the same store without faults.
type faulty struct {
	*testing.T
	store, clean *s3.Store
	folder       string // folder of the server with the objects as files
	begin, end   func() // of the fault
}

// twice calls try with the fault and, if that fails, without the fault. An error with the fault
// must have one of the kinds of the contract.
func (f *faulty) twice(try func(*s3.Store) error, kinds ...error) error {
	f.begin()
	err := try(f.store)
	f.end()
	if err == nil {
		return nil
	}
	for _, kind := range append(kinds, blobs.ErrUnavailable) {
		if errors.Is(err, kind) {
			return try(f.clean)
		}
	}
	return fmt.Errorf("an error of another kind: %w", err)
}

// wantStored checks an acknowledged blob without the store.
func (f *faulty) wantStored(b blobs.Blob, want []byte) error {
	got, err := os.ReadFile(filepath.Join(f.folder, b.Object))
	if err != nil || !bytes.Equal(got, want) {
		return fmt.Errorf("%d bytes were acknowledged, but %d different ones are stored: %w", len(want), len(got), err)
	}
	return nil
}

// stage stores a body in one of the possible ways.
func (f *faulty) stage(store *s3.Store, body []byte, r io.Reader) error {
	staged, err := store.Stage(f.Context(), r, 0)
	if err != nil {
		return err
	}
	done, err := staged.Commit(f.Context())
	if err == nil {
		err = f.wantStored(done.Blob, body)
	}
	return errors.Join(err, staged.Discard())
}

func (f *faulty) put(size int) func() error {
	return func() error {
		body := content(size)
		try := func(store *s3.Store) error { return f.stage(store, body, plainReader{bytes.NewReader(body)}) }
		return f.twice(try, blobs.ErrNotFound)
	}
}

func (f *faulty) stream() error {
	body := content(17 << 20)
	try := func(store *s3.Store) error {
		return f.stage(store, body, blobs.WithLength(bytes.NewReader(body), int64(len(body))))
	}
	return f.twice(try, blobs.ErrNotFound)
}

func (f *faulty) commitAll() error {
	bodies := [][]byte{content(10), content(100 << 10), content(0)}
	try := func(store *s3.Store) error {
		all, err := store.CommitAll(f.Context(), slices.Values(bodies))
		for i, one := range all {
			err = errors.Join(err, f.wantStored(one.Blob, bodies[i]))
		}
		return err
	}
	return f.twice(try, blobs.ErrNotFound)
}

// resume sends a body in chunks with the fault. If a chunk fails, it is sent to another node, from
// the same checkpoint.
func (f *faulty) resume() error {
	body := content(2*part + 1000)
	p := blobs.Partial{Length: int64(len(body))}
	for _, end := range []int{100, part + 100, len(body)} {
		chunk := func(store *s3.Store) error {
			at, err := store.AppendPartial(f.Context(), p, bytes.NewReader(body[p.At.Size:end]), p.Length)
			if err == io.EOF {
				p.At, err = at, nil
			}
			return err
		}
		if err := f.twice(chunk, blobs.ErrNotFound, blobs.ErrDamaged); err != nil {
			return err
		}
	}
	finish := func(store *s3.Store) error {
		staged, err := store.StagePartial(f.Context(), p)
		if err != nil {
			return err
		}
		done, err := staged.Commit(f.Context())
		if err == nil {
			err = f.wantStored(done.Blob, body)
		}
		return err
	}
	return f.twice(finish, blobs.ErrNotFound, blobs.ErrDamaged)
}

// stored stores a blob without the fault.
func (f *faulty) stored(body []byte) (blobs.Blob, error) {
	all, err := f.clean.CommitAll(f.Context(), slices.Values([][]byte{body}))
	if err != nil {
		return blobs.Blob{}, err
	}
	return all[0].Blob, nil
}

func (f *faulty) read(size int) func() error {
	return func() error { return f.readFrom(content(size), 0) }
}

func (f *faulty) seek() error { return f.readFrom(content(5<<20), 1<<20) }

func (f *faulty) readFrom(body []byte, from int64) error {
	b, err := f.stored(body)
	if err != nil {
		return err
	}
	different := errors.New("other bytes are served")
	try := func(store *s3.Store) error {
		file, err := store.Open(f.Context(), b)
		if err != nil {
			return err
		}
		_, err = file.Seek(from, io.SeekStart)
		got, reading := io.ReadAll(file)
		if err = errors.Join(err, reading); err == nil && !bytes.Equal(got, body[from:]) {
			err = different
		}
		return errors.Join(err, file.Close())
	}
	return f.twice(try, blobs.ErrNotFound, blobs.ErrDamaged)
}

// TestCutReads tests that a download resumes when its connection breaks repeatedly, and fails when
// it breaks twice at almost the same offset.
func TestCutReads(t *testing.T) {
	t.Parallel()
	server := servers.StartS3(t)
	proxy := servers.StartFaults(t, server)
	o := options(server)
	o.Endpoint = proxy.Endpoint()
	store := openAt(t, "s3://"+server.Bucket(t), o)
	body := content(4 << 20)
	all, err := store.CommitAll(t.Context(), slices.Values([][]byte{body}))
	if err != nil {
		t.Fatal(err)
	}
	gets := func(cut servers.Fault) (got []byte, ranges []string, err error) {
		proxy.Rule(func(r *http.Request) servers.Fault {
			if r.Method != http.MethodGet {
				return servers.Fault{}
			}
			ranges = append(ranges, r.Header.Get("Range"))
			return cut
		})
		file, err := store.Open(t.Context(), all[0].Blob)
		if err != nil {
			t.Fatal(err)
		}
		got, err = io.ReadAll(file)
		if err := file.Close(); err != nil {
			t.Error(err)
		}
		proxy.Rule(nil)
		return got, ranges, err
	}
	got, ranges, err := gets(servers.Fault{CutAnswer: servers.At(1 << 20)})
	if err != nil || !bytes.Equal(got, body) || len(ranges) < 4 || ranges[0] != "" || !strings.HasSuffix(ranges[1], "-4194303") {
		t.Errorf("cut after each MiB: %d bytes with %q, %v", len(got), ranges, err)
	}
	if got, ranges, err = gets(servers.Fault{CutAnswer: servers.At(5)}); !errors.Is(err, blobs.ErrUnavailable) || len(got) != 10 || len(ranges) != 2 {
		t.Errorf("cut after 5 bytes: %d bytes with %q, %v", len(got), ranges, err)
	}
}

// TestChanged tests that a changed byte is detected in bytes that are read into memory: a small
// blob or a tail.
func TestChanged(t *testing.T) {
	t.Parallel()
	server := servers.StartS3(t)
	proxy := servers.StartFaults(t, server)
	o := options(server)
	o.Endpoint = proxy.Endpoint()
	store := openAt(t, "s3://"+server.Bucket(t), o)
	body := content(2 << 20)
	all, err := store.CommitAll(t.Context(), slices.Values([][]byte{body[:1000]}))
	if err != nil {
		t.Fatal(err)
	}
	p := blobs.Partial{Length: 2 * part}
	if p.At, err = store.AppendPartial(t.Context(), p, bytes.NewReader(body), p.Length); err != io.EOF {
		t.Fatal(err)
	}
	proxy.Rule(func(r *http.Request) servers.Fault {
		if r.Method == http.MethodGet {
			return servers.Fault{Flip: servers.At(999)}
		}
		return servers.Fault{}
	})
	for what, err := range map[string]error{
		"Open": second(store.Open(t.Context(), all[0].Blob)), "AppendPartial": second(store.AppendPartial(t.Context(), p, bytes.NewReader(body), p.Length)),
		"StagePartial": second(store.StagePartial(t.Context(), p)),
	} {
		if !errors.Is(err, blobs.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestSilence tests that a server that does not answer, or stops in the middle, becomes unavailable
// after a timeout.
func TestSilence(t *testing.T) {
	t.Parallel()
	server := servers.StartS3(t)
	proxy := servers.StartFaults(t, server)
	o := options(server)
	o.Endpoint = proxy.Endpoint()
	address := "s3://" + server.Bucket(t)
	store, err := s3.Connect(address, o, 300*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	body := content(1 << 20)
	all, err := store.CommitAll(t.Context(), slices.Values([][]byte{body}))
	if err != nil {
		t.Fatal(err)
	}
	file, err := store.Open(t.Context(), all[0].Blob)
	if err != nil {
		t.Fatal(err)
	}
	proxy.Rule(func(*http.Request) servers.Fault { return servers.Fault{Rate: 1} }) // one byte per second
	if n, err := file.Read(make([]byte, 10)); n != 0 || !errors.Is(err, blobs.ErrUnavailable) {
		t.Errorf("a body that does not arrive: %d bytes, %v", n, err)
	}
	if file, err = store.Open(t.Context(), all[0].Blob); err != nil {
		t.Fatal(err)
	}
	proxy.Rule(func(*http.Request) servers.Fault { return servers.Fault{Delay: time.Hour} })
	for what, err := range map[string]error{
		"Stat": second(store.Stat(t.Context(), all[0].Blob)), "Read": second(file.Read(make([]byte, 10))),
		"Stage": second(store.Stage(t.Context(), bytes.NewReader(body), 0)),
	} {
		if !errors.Is(err, blobs.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
