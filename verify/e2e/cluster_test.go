package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/internal/servers"
)

// nodesUnderFire is a cluster whose nodes are killed one at a time, with the acknowledged files.
type nodesUnderFire struct {
	t       *testing.T
	program string
	data    []string
	at      []atomic.Pointer[Service]
	set     string
	over    atomic.Bool

	mu     sync.Mutex
	stored map[string]string // SHA-256 of acknowledged files, by id
	last   int               // number of the last file
}

// TestClusterThroughKills runs 16 writers and 4 harvesters, which use another node for each
// request, while nodes are killed and restarted for some seconds (CLUSTER_SECONDS). No acknowledged
// file may be lost or missed by a harvester, and all harvesters must receive the files in the same
// order.
func TestClusterThroughKills(t *testing.T) {
	t.Parallel()
	seconds := 10
	if text := os.Getenv("CLUSTER_SECONDS"); text != "" {
		n, err := strconv.Atoi(text)
		check(t, err)
		seconds = n
	}
	c := startCluster(t, 2)
	var writers, readers sync.WaitGroup
	for w := range 16 {
		writers.Go(func() { c.write(w) })
	}
	heard := make([][]string, 4)
	written := make(chan struct{})
	for h := range heard {
		readers.Go(func() { heard[h] = c.harvest(h, written) })
	}
	kills := 0
	for end := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(end) && !t.Failed(); kills++ {
		time.Sleep(time.Duration(500+rand.IntN(1500)) * time.Millisecond)
		n := rand.IntN(2)
		c.at[n].Load().Kill()
		c.start(n)
	}
	c.over.Store(true)
	writers.Wait()
	close(written)
	readers.Wait()
	c.verify(heard, kills)
}

func startCluster(t *testing.T, nodes int) *nodesUnderFire {
	database, store := servers.StartPostgres(t), servers.StartS3(t)
	executable, err := program()
	check(t, err)
	c := &nodesUnderFire{t: t, program: executable, stored: map[string]string{}, data: make([]string, nodes), at: make([]atomic.Pointer[Service], nodes)}
	folder := t.TempDir()
	settings, err := servers.Settings(database.Database(t), store, folder)
	check(t, err)
	for n := range c.data {
		c.data[n] = filepath.Join(folder, fmt.Sprint("node", n+1))
		check(t, os.Mkdir(c.data[n], 0o700))
		check(t, os.WriteFile(filepath.Join(c.data[n], "config.toml"), []byte(settings), 0o600))
		if n > 0 {
			key, err := os.ReadFile(filepath.Join(c.data[0], KeyFile))
			check(t, err)
			check(t, os.WriteFile(filepath.Join(c.data[n], KeyFile), key, 0o600))
		}
		c.start(n)
	}
	_, c.set, err = c.at[0].Load().MakeSet(t.Context(), "fire")
	check(t, err)
	t.Cleanup(func() {
		for n := range c.at {
			c.at[n].Load().Kill()
		}
	})
	return c
}

func (c *nodesUnderFire) start(n int) {
	s, err := Start(context.WithoutCancel(c.t.Context()), c.program, c.data[n])
	if err != nil {
		c.t.Error(err)
		return
	}
	c.at[n].Store(s)
}

// write uploads files of all sizes to the nodes in turn, until over is set. It does not repeat a
// failed request, whose file may exist or not.
func (c *nodesUnderFire) write(node int) {
	for ; !c.over.Load(); node++ {
		c.mu.Lock()
		c.last++
		body := fmt.Sprint(c.last) + strings.Repeat("x", []int{0, 4 << 10, 40 << 10}[c.last%3])
		c.mu.Unlock()
		r, err := c.at[node%2].Load().Upload(context.Background(), http.MethodPost, "/resources",
			File{SetID: c.set, Filename: "f", Body: strings.NewReader(body), Size: int64(len(body))})
		if err != nil {
			time.Sleep(10 * time.Millisecond) // the node was killed and is starting
			continue
		}
		sum := sha256.Sum256([]byte(body))
		c.mu.Lock()
		c.stored[r.ID] = hex.EncodeToString(sum[:])
		c.mu.Unlock()
	}
}

// harvest reads the pages of all resources, each from another node than the page before. At the end
// it waits for more files until written is closed. It returns the ids in their order.
func (c *nodesUnderFire) harvest(node int, written <-chan struct{}) (ids []string) {
	modified := ""
	for url, all := "/resources?limit=50", false; ; node++ {
		var page Page
		if err := c.at[node%2].Load().Get(context.Background(), url, &page); err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		for _, r := range page.Data {
			if r.Modified < modified {
				c.t.Errorf("%s comes after %s", r.Modified, modified)
			}
			ids, modified = append(ids, r.ID), r.Modified
		}
		switch {
		case !page.End:
			_, path, _ := strings.Cut(page.NextPage, "/v1")
			url = path
		case all:
			return ids
		default:
			select {
			case <-written:
				all = true // read once more, for the last files
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
}

// verify compares the results of the harvesters with each other and with the acknowledged files. It
// downloads the files from the nodes in turn.
func (c *nodesUnderFire) verify(heard [][]string, kills int) {
	for h, ids := range heard[1:] {
		if strings.Join(ids, " ") != strings.Join(heard[0], " ") {
			c.t.Errorf("harvester %d received %d files, and the first harvester %d, or in another order", h+1, len(ids), len(heard[0]))
		}
	}
	known := map[string]bool{}
	for _, id := range heard[0] {
		if known[id] {
			c.t.Errorf("%s was received twice", id)
		}
		known[id] = true
	}
	node := 0
	for id, want := range c.stored {
		if !known[id] {
			c.t.Errorf("%s was acknowledged, but no harvester received it", id)
		}
		sum := sha256.New()
		if err := c.at[node%2].Load().Download(c.t.Context(), "/resources/"+id+"/data", sum); err != nil || hex.EncodeToString(sum.Sum(nil)) != want {
			c.t.Errorf("%s was acknowledged, but its content has changed: %v", id, err)
		}
		node++
	}
	if len(c.stored) == 0 || kills == 0 {
		c.t.Error("no file or no kill: the test has no meaning")
	}
	c.t.Logf("%d files acknowledged, %d received, %d kills", len(c.stored), len(heard[0]), kills)
}
