package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	quotaWriters = 16
	quotaRound   = 3 << 20 // bytes by which the quota is raised after each kill
	quotaFile    = 200_000 // maximum bytes of a file; some are inline
)

// filling is a dataspace that writers fill up to its quota, while its service is killed and
// restarted.
type filling struct {
	t          *testing.T
	space, set string
	at         atomic.Pointer[Service]
	epoch      atomic.Int64 // odd: the service is down
	creating   sync.RWMutex // no kill while a resumable upload begins: an upload with an unknown id would keep its reservation until it expires
	over       atomic.Bool
	quota      atomic.Int64

	mu      sync.Mutex
	stored  map[string]string // SHA-256 of acknowledged files, by id
	bytes   int64             // bytes of the acknowledged files
	refused [quotaWriters]int // consecutive refusals
}

// TestQuotaThroughKills runs 16 writers against one quota while the service is killed
// (QUOTA_KILLS). They send forms with and without a length, and uploads in chunks. The quota is
// never exceeded, no acknowledged file is lost, refusals have the right error code, and in the end
// a file that fits exactly is accepted.
func TestQuotaThroughKills(t *testing.T) {
	t.Parallel()
	kills := 3
	if text := os.Getenv("QUOTA_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		check(t, err)
		kills = n
	}
	executable, err := program()
	check(t, err)
	data := filepath.Join(t.TempDir(), "data")
	start := func() *Service {
		s, err := Start(context.WithoutCancel(t.Context()), executable, data)
		check(t, err)
		return s
	}
	f := &filling{t: t, stored: map[string]string{}}
	f.at.Store(start())
	defer func() { f.at.Load().Kill() }()
	f.space, f.set, err = f.at.Load().MakeSet(t.Context(), "filled")
	check(t, err)
	f.raise(quotaRound)
	var writers sync.WaitGroup
	for n := range quotaWriters {
		writers.Go(func() { f.write(n) })
	}
	for range kills {
		before, enough := f.acknowledged(), rand.Int64N(quotaRound/2)
		waitUntil(t, func() bool { return t.Failed() || f.acknowledged()-before >= enough })
		f.creating.Lock()
		f.epoch.Add(1)
		f.at.Load().Kill()
		f.at.Store(start())
		f.within()
		f.raise(f.used() + quotaRound)
		f.epoch.Add(1)
		f.creating.Unlock()
	}
	waitUntil(t, func() bool { return t.Failed() || f.allRefused() })
	f.over.Store(true)
	writers.Wait()
	if t.Failed() {
		return
	}
	f.verify()
	f.fillUp()
	check(t, f.at.Load().Stop())
}

// raise sets the quota.
func (f *filling) raise(bytes int64) {
	check(f.t, f.at.Load().Call(f.t.Context(), http.MethodPut, "/dataspaces/"+f.space, map[string]int64{"quota": bytes}, nil))
	f.quota.Store(bytes)
}

// used returns the number of bytes that count towards the quota.
func (f *filling) used() int64 {
	var u struct{ ActiveBytes, DeletedBytes, OldBytes int64 }
	check(f.t, f.at.Load().Get(f.t.Context(), "/dataspaces/"+f.space+"/usage", &u))
	return u.ActiveBytes + u.DeletedBytes + u.OldBytes
}

// within fails the test if the quota is exceeded, or if fewer bytes are stored than were
// acknowledged.
func (f *filling) within() {
	acknowledged, used, quota := f.acknowledged(), f.used(), f.quota.Load()
	if used > quota || used < acknowledged {
		f.t.Errorf("%d bytes are used, the quota is %d, %d bytes are acknowledged", used, quota, acknowledged)
	}
}

func (f *filling) acknowledged() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bytes
}

// allRefused reports whether each writer was refused at least three times in a row.
func (f *filling) allRefused() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.refused {
		if n < 3 {
			return false
		}
	}
	return true
}

// write runs one writer until over is set.
func (f *filling) write(n int) {
	for !f.over.Load() && !f.t.Failed() {
		content := make([]byte, 1+rand.IntN(quotaFile))
		_, _ = rand.NewChaCha8([32]byte{byte(n), byte(rand.Uint32()), byte(rand.Uint32()), byte(rand.Uint32())}).Read(content) // never fails
		var id string
		if n%3 == 2 {
			id = f.inChunks(content)
		} else {
			id = f.asForm(content, n%3 == 0)
		}
		sum := sha256.Sum256(content)
		f.mu.Lock()
		if f.refused[n]++; id != "" {
			f.stored[id], f.refused[n] = hex.EncodeToString(sum[:]), 0
			f.bytes += int64(len(content))
		}
		f.mu.Unlock()
		if id == "" {
			time.Sleep(time.Millisecond) // leaves the processors to other writers
		}
	}
}

// try sends a request. If the service was killed before it answered, try waits until the service
// runs again, and ok is false. A missing answer without a kill fails the test.
func (f *filling) try(method, url string, header http.Header, body io.Reader) (a Answer, ok bool) {
	epoch := f.epoch.Load()
	a, err := f.at.Load().Exchange(context.WithoutCancel(f.t.Context()), method, url, header, body)
	if err == nil {
		return a, true
	}
	for deadline := time.Now().Add(startLimit); f.epoch.Load() == epoch || f.epoch.Load()%2 == 1; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Errorf("%s %s got no answer: %v", method, url, err)
			break
		}
	}
	return a, false
}

// refusal fails the test unless the answer is a refusal because of the quota.
func (f *filling) refusal(a Answer) {
	if problem := a.Problem(); problem.Status != http.StatusInsufficientStorage || problem.Code != "quota_exceeded" {
		f.t.Errorf("a writer received %v", problem)
	}
}

// asForm uploads a form, and returns the id of the resource if it was acknowledged.
func (f *filling) asForm(content []byte, sized bool) (id string) {
	form := []byte("--x\r\nContent-Disposition: form-data; name=\"setId\"\r\n\r\n" + f.set + "\r\n" +
		"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"run\"\r\n\r\n" + string(content) + "\r\n--x--\r\n")
	var body io.Reader = bytes.NewReader(form)
	if !sized {
		body = struct{ io.Reader }{body}
	}
	a, answered := f.try(http.MethodPost, "/resources", http.Header{"Content-Type": {"multipart/form-data; boundary=x"}}, body)
	var made Resource
	switch {
	case !answered:
	case a.Status == http.StatusCreated:
		if err := a.Decode(&made); err != nil {
			f.t.Error(err)
		}
	default:
		f.refusal(a)
	}
	return made.ID
}

// inChunks uploads in two chunks and resumes after a kill. It returns the id of the resource if the
// upload was acknowledged. It cancels a refused upload.
func (f *filling) inChunks(content []byte) (id string) {
	text := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	f.creating.RLock()
	a, answered := f.try(http.MethodPost, "/uploads", http.Header{
		"Tus-Resumable": {"1.0.0"}, "Upload-Length": {strconv.Itoa(len(content))}, "Upload-Metadata": {"setId " + text(f.set) + ",filename " + text("run")},
	}, nil)
	f.creating.RUnlock()
	if !answered || a.Status != http.StatusCreated {
		f.refusal(a)
		return ""
	}
	upload := "/uploads/" + filepath.Base(a.Header.Get("Location"))
	for offset := 0; ; {
		end := len(content)
		if offset == 0 {
			end /= 2
		}
		a, answered := f.try(http.MethodPatch, upload, http.Header{
			"Tus-Resumable": {"1.0.0"}, "Content-Type": {"application/offset+octet-stream"}, "Upload-Offset": {strconv.Itoa(offset)},
		}, bytes.NewReader(content[offset:end]))
		for !answered { // the service was killed
			a, answered = f.try(http.MethodHead, upload, http.Header{"Tus-Resumable": {"1.0.0"}}, nil)
		}
		if a.Status/100 != 2 {
			f.refusal(a)
			for answered = false; !answered; {
				_, answered = f.try(http.MethodDelete, upload, http.Header{"Tus-Resumable": {"1.0.0"}}, nil)
			}
			return ""
		}
		if made := a.Header.Get("Labshelf-Resource"); made != "" {
			return filepath.Base(made)
		}
		var err error
		if offset, err = strconv.Atoi(a.Header.Get("Upload-Offset")); err != nil {
			f.t.Errorf("an upload has the offset %q", a.Header.Get("Upload-Offset"))
			return ""
		}
	}
}

// verify reads all acknowledged files, and compares the size of all files with the usage.
func (f *filling) verify() {
	f.within()
	for id, sum := range f.stored {
		content := sha256.New()
		check(f.t, f.at.Load().Download(f.t.Context(), "/resources/"+id+"/data", content))
		if got := hex.EncodeToString(content.Sum(nil)); got != sum {
			f.t.Errorf("file %s has SHA-256 %s, want %s", id, got, sum)
		}
	}
	var all int64
	_, err := f.at.Load().Walk(f.t.Context(), "/sets/"+f.set+"/resources", func(p Page) error {
		for _, r := range p.Data {
			all += r.Bytes
		}
		return nil
	})
	check(f.t, err)
	if used := f.used(); used != all {
		f.t.Errorf("the usage is %d bytes, but the files have %d", used, all)
	}
	f.t.Logf("%d files of %d bytes were acknowledged, %d bytes are stored", len(f.stored), f.bytes, all)
}

// fillUp checks that one byte too many is refused, and that a file of the remaining size is
// accepted.
func (f *filling) fillUp() {
	left := f.quota.Load() - f.used()
	if id := f.asForm(make([]byte, left+1), true); id != "" {
		f.t.Error("a file with one byte too many is accepted")
	}
	if id := f.asForm(make([]byte, left), false); id == "" && left > 0 {
		f.t.Errorf("a file of the remaining %d bytes is refused", left)
	}
	if used, quota := f.used(), f.quota.Load(); used != quota {
		f.t.Errorf("%d of %d bytes are used", used, quota)
	}
}
