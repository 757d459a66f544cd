package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"labshelf/internal/servers"
	"labshelf/verify/e2e"
)

// twoNodes are two nodes that share a PostgreSQL and an S3 server. They have the same content as
// the embedded repository.
type twoNodes struct {
	nodes []peer
	set   string
}

// cluster compares uploads and pages of two nodes with the embedded engines, which have the same
// content. PostgreSQL, the S3 server and the clients use the same processors.
func (b *bench) cluster(ctx context.Context) (rows []row, err error) {
	var open closers
	defer open.close(&err)
	embedded, nodes, err := b.startPair(ctx, &open)
	if errors.Is(err, servers.ErrMissing) {
		b.say("%v: the rows of the cluster are skipped", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	pages, err := b.clusterPages(ctx, embedded, nodes)
	if err != nil {
		return nil, err
	}
	uploads, err := b.clusterUploads(ctx, embedded, nodes)
	return append(pages, uploads...), err
}

// startPair creates a repository and runs the service on it. It also moves a copy to PostgreSQL and
// S3, and runs two nodes on the copy.
func (b *bench) startPair(ctx context.Context, open *closers) (embedded *subject, of *twoNodes, err error) {
	database, err := servers.NewPostgres("shared_buffers=1GB", "max_wal_size=4GB")
	if err != nil {
		return nil, nil, err
	}
	open.later(database.Close)
	store, err := servers.NewS3()
	if err != nil {
		return nil, nil, err
	}
	open.later(store.Close)
	var made closers
	if embedded, err = b.filledSet(ctx, &made, "embedded", b.clusterMany, 0); err != nil {
		return nil, nil, err
	}
	if made.close(&err); err != nil {
		return nil, nil, err
	}
	address, err := database.NewDatabase()
	if err != nil {
		return nil, nil, err
	}
	settings, err := servers.Settings(address, store, b.folder)
	if err != nil {
		return nil, nil, err
	}
	of = &twoNodes{set: embedded.set}
	for n := range 2 {
		node, err := b.startNode(ctx, open, n, embedded.data, settings)
		if err != nil {
			return nil, nil, err
		}
		of.nodes = append(of.nodes, node)
	}
	return embedded, of, embedded.run(ctx, open, b.program)
}

// startNode runs a node with settings. Node 0 first migrates the data directory from.
func (b *bench) startNode(ctx context.Context, open *closers, n int, from, settings string) (p peer, err error) {
	data := filepath.Join(b.folder, fmt.Sprintf("node%d", n+1))
	key, err := os.ReadFile(filepath.Join(from, e2e.KeyFile))
	if err != nil {
		return p, err
	}
	err = errors.Join(os.Mkdir(data, 0o700), os.WriteFile(filepath.Join(data, "config.toml"), []byte(settings), 0o600),
		os.WriteFile(filepath.Join(data, e2e.KeyFile), key, 0o600))
	if err != nil {
		return p, err
	}
	if n == 0 {
		b.say("copying it to the cluster")
		move := exec.CommandContext(ctx, b.program, "migrate", "--from", from, "--to", data)
		if out, err := move.CombinedOutput(); err != nil {
			return p, fmt.Errorf("migrate: %w\n%s", err, out)
		}
	}
	s, err := e2e.Start(ctx, b.program, data)
	if err != nil {
		return p, err
	}
	open.later(s.Stop)
	return peerAt(s.Base(), s.Key()), nil
}

// clusterPages measures pages at three depths, each compared with the same page of the embedded
// engine.
func (b *bench) clusterPages(ctx context.Context, embedded *subject, of *twoNodes) (rows []row, err error) {
	known, err := embedded.walk(ctx, "/resources", b.clusterMany)
	if err != nil {
		return nil, err
	}
	var kinds []*kind
	for _, depth := range []int{0, 50, 90} {
		what := fmt.Sprintf("cluster: page of 100 at %d %% of %d", depth, b.clusterMany)
		at := strings.TrimPrefix(known.urls[len(known.pages)*depth/100], "http://"+embedded.address+embedded.path)
		kinds = append(kinds, &kind{what: what, of: of.nodes[0], url: at}, &kind{what: what + ", embedded", of: embedded.peer, url: at})
		rows = append(rows, row{what: what, unit: "µs", reference: "embedded", targets: []target{figureAtMost(1000), ratioAtMost(3)}})
	}
	return rows, b.comparePages(ctx, "pages of the cluster", rows, kinds)
}

// clusterUploads compares uploads to one node with uploads to the embedded engines, and uploads to
// two nodes with uploads to one.
func (b *bench) clusterUploads(ctx context.Context, embedded *subject, of *twoNodes) (rows []row, err error) {
	sent, err := countFiles(embedded.data)
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		size, clients int
		targets       []target
	}{{smallFile, 1, nil}, {smallFile, manyClients, []target{figureAtLeast(800)}}, {mediumFile, 1, nil}, {mediumFile, manyClients, nil}} {
		what := fmt.Sprintf("cluster: %d KiB uploads, clients: %d", c.size>>10, c.clients)
		single := row{what: what, unit: "1/s", reference: "embedded", targets: c.targets}
		two := row{what: what + ", at two nodes", unit: "1/s", reference: "at one node"}
		for round := range b.rounds {
			b.say("%s, round %d", what, round+1)
			theirs, err := b.uploadTo(ctx, embedded, c.clients, c.size, &sent)
			if err != nil {
				return nil, err
			}
			one, err := b.uploadAt(ctx, of.nodes[:1], of.set, c.clients, c.size)
			if err != nil {
				return nil, err
			}
			both, err := b.uploadAt(ctx, of.nodes, of.set, c.clients, c.size)
			if err != nil {
				return nil, err
			}
			single.add(one.perSecond(), theirs.perSecond())
			two.add(both.perSecond(), one.perSecond())
		}
		if rows = append(rows, single); c.clients > 1 {
			rows = append(rows, two)
		}
	}
	return rows, nil
}

// uploadAt runs clients that upload to nodes, each client to one node. It verifies every answer.
func (b *bench) uploadAt(ctx context.Context, nodes []peer, set string, clients, size int) (done load, err error) {
	uploaders, workers := make([]*uploader, clients), make([]func() error, clients)
	for i := range workers {
		node := nodes[i%len(nodes)]
		w, err := dial(ctx, node)
		if err != nil {
			return done, err
		}
		defer w.close()
		uploaders[i] = newUploader(w, node, set, size, b.number)
		workers[i] = uploaders[i].upload
	}
	if done, err = work(workers, b.load); err != nil {
		return done, err
	}
	for _, u := range uploaders {
		if err := u.verify(); err != nil {
			return done, err
		}
	}
	b.say("%.0f uploads/s at %d nodes", done.perSecond(), len(nodes))
	return done, nil
}
