package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"labshelf/verify/e2e"
)

// overloaded is a service under attack, with the ids of its content.
type overloaded struct {
	*trial
	service *e2e.Service

	abuser, other *http.Client // clients with different addresses
	stranger      string       // key of a user without a role, used by the abuser
	editor        string       // key of an editor of the quiet set

	large, wide, tables, quiet string   // sets
	export                     []byte   // metadata of the quiet set as CSV
	largeLink, quietLink       string   // paths of shares
	guessed                    string   // path of a share with a password
	locked                     []string // paths of shares with the password of the other caller
}

const linkPassword = "the right password"

// Addresses of this machine from which the callers come.
const (
	attackers = "127.0.0.2"
	others    = "127.0.0.3"
)

// samples returns the number of normal requests that are timed per attack.
func (o *overloaded) samples() int {
	if o.long {
		return 100
	}
	return 5
}

// scaled returns a number of clients or files: long in a long row, otherwise short.
func (o *overloaded) scaled(long, short int) int {
	if o.long {
		return long
	}
	return short
}

// from returns a client whose connections come from an address of this machine. Its small read
// buffer limits the bytes in flight.
func from(address string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{Transport: &http.Transport{
		DisableCompression: true, MaxIdleConnsPerHost: 64,
		DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, to)
			if err == nil {
				err = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
			}
			return conn, err
		},
	}}
}

// attacks returns all attacks. Their numbers of clients in the long row once made the service
// unavailable.
func (o *overloaded) attacks() []attack {
	digits := make([]string, 32) // the maximum number of words in a query
	for i := range digits {
		digits[i] = strconv.Itoa(i + 1)
	}
	normal := func(method, path, key string) func(int) sent {
		return func(int) sent { return sent{client: o.other, method: method, path: path, key: key} }
	}
	abuse := func(s sent) func(int) sent {
		s.client = o.abuser
		return func(int) sent { return s }
	}
	over := http.StatusServiceUnavailable
	listed := func(set string) string { return "/v1/sets/" + set + "/resources?fields=metadata&limit=1000" }
	return []attack{
		{"slow readers of the zip of a share", o.scaled(780, 100), abuse(sent{method: "GET", path: o.largeLink + "/archive", slowly: true}), over,
			normal("GET", o.quietLink+"/archive", "")},
		{"slow readers of listings with metadata", o.scaled(400, 150), abuse(sent{method: "GET", path: listed(o.wide), key: o.stranger, slowly: true}), over,
			normal("GET", listed(o.quiet), o.editor)},
		{"guesses at the password of a link", 200, abuse(sent{method: "GET", path: o.guessed, password: "wrong"}), over,
			func(n int) sent {
				return sent{client: o.other, method: "GET", path: o.locked[n], password: linkPassword}
			}},
		{"slow CSV bodies of a user without a role", 4, func(int) sent {
			return sent{client: o.abuser, method: "POST", path: "/v1/sets/" + o.quiet + "/metadata", key: o.stranger, contentType: "text/csv", body: &trickle{}}
		}, http.StatusForbidden,
			func(int) sent {
				return sent{client: o.other, method: "POST", path: "/v1/sets/" + o.quiet + "/metadata", key: o.editor, contentType: "text/csv", body: bytes.NewReader(o.export)}
			}},
		{"searches for many digits", 80, abuse(sent{method: "GET", path: "/v1/search?q=" + url.QueryEscape(strings.Join(digits, " ")), key: o.stranger}), over,
			normal("GET", "/v1/search?q=quiet", o.editor)},
		{"CSV exports of many names", 80, abuse(sent{method: "GET", path: "/v1/sets/" + o.wide + "/metadata"}), over,
			normal("GET", "/v1/sets/"+o.quiet+"/metadata", o.editor)},
		{"PROPFINDs on the drive", 80, abuse(sent{method: "PROPFIND", path: "/dav/large-space/tables/", key: o.stranger, slowly: true}), over,
			normal("PROPFIND", "/dav/quiet-space/quiet/", o.editor)},
	}
}

// prepare creates the content that the attacks request.
func (o *overloaded) prepare(ctx context.Context) error {
	o.abuser, o.other = from(attackers), from(others)
	c := o.service.Client
	space, err := c.Make(ctx, "/dataspaces", map[string]string{"name": "large-space", "visibility": "open"})
	if err != nil {
		return err
	}
	for _, made := range []struct {
		name string
		id   *string
	}{{"large", &o.large}, {"wide", &o.wide}, {"tables", &o.tables}} {
		if *made.id, err = c.Make(ctx, "/sets", map[string]string{"name": made.name, "dataspaceId": space}); err != nil {
			return err
		}
	}
	quiet, id, err := c.MakeSet(ctx, "quiet")
	if err != nil {
		return err
	}
	o.quiet = id
	if err := o.people(ctx, quiet); err != nil {
		return err
	}
	if err := o.files(ctx); err != nil {
		return err
	}
	return o.links(ctx)
}

// people creates the callers.
func (o *overloaded) people(ctx context.Context, dataspace string) error {
	for _, caller := range []struct {
		name string
		key  *string
	}{{"stranger", &o.stranger}, {"editor", &o.editor}} {
		var user struct{ ID string }
		var given struct{ Key string }
		err := o.service.Call(ctx, http.MethodPost, "/users", map[string]string{"username": caller.name}, &user)
		if err == nil {
			err = o.service.Call(ctx, http.MethodPost, "/users/"+user.ID+"/keys", map[string]string{"label": "key"}, &given)
		}
		if err == nil && caller.name == "editor" {
			err = o.service.Call(ctx, http.MethodPost, "/privileges", map[string]string{"userId": user.ID, "dataspaceId": dataspace, "role": "editor"}, nil)
		}
		if err != nil {
			return err
		}
		*caller.key = given.Key
	}
	return nil
}

// files fills the sets with a large file, files with many property names, tables of numbers, and
// some small files.
func (o *overloaded) files(ctx context.Context) error {
	senders, sound := errgroup.WithContext(ctx)
	senders.SetLimit(workers)
	send := func(set, name, metadata string, body []byte) {
		senders.Go(func() error { return o.describe(sound, set, name, metadata, body) })
	}
	send(o.large, "large.bin", "{}", content(o.seed, 8<<20))
	for n := range 5 {
		send(o.quiet, fmt.Sprintf("quiet%d.txt", n), `{"properties": {"temperature": 20}}`, []byte("quiet"))
	}
	for n := range o.scaled(400, 60) {
		properties := map[string]any{}
		for p := range 900 {
			properties[fmt.Sprintf("a property of a file that has many %d %d", n, p)] = p
		}
		text, err := json.Marshal(map[string]any{"properties": properties})
		if err != nil {
			return err
		}
		send(o.wide, fmt.Sprint("wide", n), string(text), []byte("wide"))
	}
	for n := range o.scaled(3000, 100) {
		random, table := o.random(n), &strings.Builder{}
		for range 200 {
			fmt.Fprintf(table, "%d,%d,%d,%.3f\n", random.IntN(1000), random.IntN(100_000), random.IntN(1_000_000), random.Float64()*1000)
		}
		send(o.tables, fmt.Sprintf("table%d %s.csv", n, strings.Repeat("ü", 110)), "{}", []byte(table.String()))
	}
	if err := senders.Wait(); err != nil {
		return err
	}
	a, err := o.service.SendJSON(ctx, http.MethodGet, "/sets/"+o.quiet+"/metadata", nil)
	o.export = a.Body
	return err
}

// describe uploads a file with descriptive metadata.
func (o *overloaded) describe(ctx context.Context, set, name, metadata string, body []byte) error {
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	for _, field := range [][2]string{{"setId", set}, {"metadata", metadata}} {
		if err := parts.WriteField(field[0], field[1]); err != nil {
			return err
		}
	}
	file, err := parts.CreateFormFile("file", name)
	if err == nil {
		_, err = file.Write(body)
	}
	if err != nil {
		return err
	}
	if err := parts.Close(); err != nil {
		return err
	}
	a, err := o.service.Exchange(ctx, http.MethodPost, "/resources", http.Header{"Content-Type": {parts.FormDataContentType()}}, &form)
	if err == nil {
		err = a.Decode(nil)
	}
	return err
}

// links creates share links, and waits until the search index is current.
func (o *overloaded) links(ctx context.Context) error {
	share := func(set, password string) (string, error) {
		var made struct{ Address string }
		fields := map[string]string{"kind": "share", "setId": set}
		if password != "" {
			fields["password"] = password
		}
		if err := o.service.Call(ctx, http.MethodPost, "/links", fields, &made); err != nil {
			return "", err
		}
		at, err := url.Parse(made.Address)
		if err != nil {
			return "", err
		}
		return at.Path, nil
	}
	for _, made := range []struct {
		path          *string
		set, password string
	}{{&o.largeLink, o.large, ""}, {&o.quietLink, o.quiet, ""}, {&o.guessed, o.large, "another one"}} {
		var err error
		if *made.path, err = share(made.set, made.password); err != nil {
			return err
		}
	}
	for range 2 * o.samples() { // each link is opened once, because the service caches a correct password
		path, err := share(o.quiet, linkPassword)
		if err != nil {
			return err
		}
		o.locked = append(o.locked, path)
	}
	return (&searched{workload: &workload{client: o.service.Client}}).caughtUp(ctx)
}

// resetPeak resets VmHWM of a process to its current resident memory.
func resetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// peakMemory returns VmHWM of a process, in MiB.
func peakMemory(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseFloat(kib, 64)
	return n / 1024, err
}
