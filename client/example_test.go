package client_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"labshelf/client"
	"labshelf/repository"
)

// serve starts a service in a temporary directory, with a sysadmin who has this key.
func serve() (base, key string, stop func()) {
	dir, err := os.MkdirTemp("", "labshelf")
	fatal(err)
	s, err := openService(dir, repository.Config{})
	fatal(err)
	return s.base, s.key, func() { fatal(errors.Join(s.close(), os.RemoveAll(dir))) }
}

// fatal handles errors in these examples.
func fatal(err error) {
	if err != nil {
		panic(err)
	}
}

// bench starts a service with a set.
func bench() (ctx context.Context, c *client.Client, set client.Set, stop func()) {
	base, key, end := serve()
	ctx, c = context.Background(), client.New(base, key)
	dataspace, err := c.Dataspaces.Create(ctx, client.NewDataspace{Name: "lab-one"})
	fatal(err)
	set, err = c.Sets.Create(ctx, client.NewSet{Name: "runs-2026", DataspaceID: dataspace.ID})
	fatal(err)
	return ctx, c, set, func() {
		c.Close()
		end()
	}
}

// put uploads a string.
func put(ctx context.Context, c *client.Client, setID, name, text string) client.Resource {
	r, err := c.Resources.Create(ctx, client.NewResource{SetID: setID, Name: name}, strings.NewReader(text), int64(len(text)))
	fatal(err)
	return r
}

// Example creates a set in a new service, uploads a file and downloads it.
func Example() {
	base, key, stop := serve() // such as https://data.example.org/v1 and lsk_…
	defer stop()
	ctx := context.Background()
	c := client.New(base, key)
	defer c.Close()

	dataspace, err := c.Dataspaces.Create(ctx, client.NewDataspace{Name: "lab-one", Title: "Laser lab"})
	fatal(err)
	set, err := c.Sets.Create(ctx, client.NewSet{Name: "runs-2026", DataspaceID: dataspace.ID})
	fatal(err)
	table := "second,volt\n0,1.5\n1,1.7\n"
	resource, err := c.Resources.Create(ctx, client.NewResource{
		SetID: set.ID, Name: "day 1/run-1.csv", Filename: "run-1.csv", Description: "first run",
	}, strings.NewReader(table), int64(len(table)))
	fatal(err)
	fmt.Println(resource.Name, resource.Format, resource.Bytes, resource.SHA256)

	file, err := c.Resources.Data(ctx, resource.ID, 0, "")
	fatal(err)
	_, err = io.Copy(os.Stdout, file)
	fatal(errors.Join(err, file.Close()))
	// Output:
	// day 1/run-1.csv CSV 24 d85aacaa6d3444079e2db506d7795c0fa01cc5ea175d0ba049fd374da9535f41
	// second,volt
	// 0,1.5
	// 1,1.7
}

// An open file is streamed, and sent again from its start if the connection breaks.
func ExampleResources_Create() {
	ctx, c, set, stop := bench()
	defer stop()
	path := filepath.Join(os.TempDir(), fmt.Sprint("labshelf-example-", os.Getpid()))
	fatal(os.WriteFile(path, make([]byte, 3<<20), 0o600))
	defer func() { fatal(os.Remove(path)) }()

	file, err := os.Open(path)
	fatal(err)
	info, err := file.Stat()
	fatal(err)
	resource, err := c.Resources.Create(ctx, client.NewResource{SetID: set.ID, Name: "zeros", Format: "BIN"}, file, info.Size())
	fatal(errors.Join(err, file.Close()))
	fmt.Println(resource.Name, resource.Format, resource.Bytes)

	_, err = c.Resources.Create(ctx, client.NewResource{SetID: "nowhere", Name: "lost"}, strings.NewReader("text"), 4)
	if p, ok := errors.AsType[*client.Problem](err); ok {
		fmt.Println(p.Status, p.Code, p.Field)
	}
	// Output:
	// zeros BIN 3145728
	// 404 set_not_found setId
}

// An unfinished download continues with the missing bytes, if the file is still the same.
func ExampleResources_Data() {
	ctx, c, set, stop := bench()
	defer stop()
	id := put(ctx, c, set.ID, "letter.txt", "Dear Sir or Madam, will you read my book?").ID

	file, err := c.Resources.Data(ctx, id, 0, "")
	fatal(err)
	var text bytes.Buffer
	_, err = io.CopyN(&text, file, 17)
	fatal(errors.Join(err, file.Close()))

	rest, err := c.Resources.Data(ctx, id, int64(text.Len()), file.ETag)
	fatal(err)
	fmt.Println(text.Len(), "of", rest.Total, "bytes are there,", rest.Bytes, "are missing")
	_, err = io.Copy(&text, rest)
	fatal(errors.Join(err, rest.Close()))
	fmt.Println(text.String())

	_, err = c.Resources.Replace(ctx, id, client.NewResource{Name: "letter.txt"}, strings.NewReader("It took me years to write"), 25)
	fatal(err)
	_, err = c.Resources.Data(ctx, id, 17, file.ETag)
	if p, ok := errors.AsType[*client.Problem](err); ok {
		fmt.Println(p.Status, p.Code)
	}
	// Output:
	// 17 of 41 bytes are there, 24 are missing
	// Dear Sir or Madam, will you read my book?
	// 412 precondition_failed
}

// A listing is ranged over; its pages are fetched on the way.
func ExampleSets_Resources() {
	ctx, c, set, stop := bench()
	defer stop()
	for _, name := range []string{"day 2/run-1.csv", "day 1/run-2.csv", "day 1/run-1.csv"} {
		put(ctx, c, set.ID, name, "0,1.5\n")
	}
	for resource, err := range c.Sets.Resources(ctx, set.ID, client.ListOptions{NamePrefix: "day 1/", Limit: 1}) {
		fatal(err)
		fmt.Println(resource.Name)
	}
	// Output:
	// day 1/run-1.csv
	// day 1/run-2.csv
}

// A harvester keeps the URL of the last page, and requests it again to get later changes.
// [client.All] includes deletions.
func ExamplePages() {
	ctx, c, set, stop := bench()
	defer stop()
	kept := client.ListOptions{State: client.All}.At(c.Base() + "/resources")
	harvest := func() {
		for page, err := range client.Pages[client.Resource](ctx, c, kept) {
			fatal(err)
			for _, resource := range page.Data {
				fmt.Println(resource.Name, resource.State)
			}
			kept = page.URL // stored after the page has been processed
		}
		fmt.Println("—")
	}
	a, b := put(ctx, c, set.ID, "a", "alpha"), put(ctx, c, set.ID, "b", "beta")
	harvest()
	harvest()
	fatal(c.Resources.Delete(ctx, a.ID))
	_, err := c.Resources.Edit(ctx, b.ID, client.ResourceEdit{Name: new("b2")})
	fatal(err)
	put(ctx, c, set.ID, "c", "gamma")
	harvest()
	// Output:
	// a active
	// b active
	// —
	// —
	// a deleted
	// b2 active
	// c active
	// —
}

// Two people change the same record. The second one gets an error, and reads the record again.
func ExampleIfMatch() {
	ctx, c, set, stop := bench()
	defer stop()
	_, err := c.Sets.Edit(ctx, set.ID, client.SetEdit{Title: new("Runs")}, client.IfMatch(set.ETag))
	fatal(err)

	_, err = c.Sets.Edit(ctx, set.ID, client.SetEdit{Title: new("All runs")}, client.IfMatch(set.ETag))
	if p, ok := errors.AsType[*client.Problem](err); ok {
		fmt.Println(p.Status, p.Code)
	}
	now, err := c.Sets.Get(ctx, set.ID)
	fatal(err)
	fmt.Println(now.Title)
	// Output:
	// 412 precondition_failed
	// Runs
}

// A copy is fetched again only when it is out of date.
func ExampleIfNoneMatch() {
	ctx, c, set, stop := bench()
	defer stop()
	_, err := c.Sets.Get(ctx, set.ID, client.IfNoneMatch(set.ETag))
	fmt.Println(errors.Is(err, client.ErrNotModified))
	// Output:
	// true
}

// A colleague gets a key and a role.
func ExamplePrivileges_Grant() {
	ctx, c, set, stop := bench()
	defer stop()
	mary, err := c.Users.Create(ctx, client.NewUser{Username: "mary", Fullname: "Mary Somerville"})
	fatal(err)
	key, err := c.Keys.Create(ctx, mary.ID, client.NewKey{Label: "notebook", Expires: client.Time{Time: time.Now().AddDate(1, 0, 0)}})
	fatal(err)
	hers := client.New(c.Base(), key.Secret)
	defer hers.Close()

	_, err = hers.Sets.Get(ctx, set.ID)
	fmt.Println(err)
	role, err := c.Privileges.Grant(ctx, client.NewPrivilege{UserID: mary.ID, DataspaceID: set.DataspaceID, Role: client.Member})
	fatal(err)
	read, err := hers.Sets.Get(ctx, set.ID)
	fatal(err)
	fmt.Println(role.Role, "reads", read.Name)

	fatal(c.Keys.Revoke(ctx, mary.ID, key.ID))
	_, err = hers.Users.Me(ctx)
	if p, ok := errors.AsType[*client.Problem](err); ok {
		fmt.Println(p.Status, p.Code)
	}
	// Output:
	// the service answered 403 forbidden: you have no role in this dataspace; required: member
	// member reads runs-2026
	// 401 unauthenticated
}

// A deleted set is restored, with its resources.
func ExampleSets_Restore() {
	ctx, c, set, stop := bench()
	defer stop()
	resource := put(ctx, c, set.ID, "a", "alpha")
	fatal(c.Sets.Delete(ctx, set.ID))
	_, err := c.Resources.Data(ctx, resource.ID, 0, "")
	if p, ok := errors.AsType[*client.Problem](err); ok {
		fmt.Println(p.Status, p.Code)
	}
	_, err = c.Sets.Restore(ctx, set.ID)
	fatal(err)
	resource, err = c.Resources.Get(ctx, resource.ID)
	fatal(err)
	fmt.Println(resource.Name, resource.State)
	// Output:
	// 410 resource_deleted
	// a active
}

// An interactive program retries less often.
func ExampleClient_WithRetries() {
	base, key, stop := serve()
	stop() // the service has stopped
	c := client.New(base, key).WithRetries(client.Retries{Tries: 2, First: 10 * time.Millisecond})
	defer c.Close()
	_, err := c.Users.Me(context.Background())
	fmt.Println(strings.HasSuffix(err.Error(), "(tried 2 times)"))
	// Output:
	// true
}

// The usage of all dataspaces that the caller may read.
func ExampleClient_Usage() {
	ctx, c, set, stop := bench()
	defer stop()
	put(ctx, c, set.ID, "a", "alpha")
	fatal(c.Resources.Delete(ctx, put(ctx, c, set.ID, "b", "beta").ID))
	usage, err := c.Usage(ctx)
	fatal(err)
	fmt.Printf("%+v\n", usage.Counters)
	// Output:
	// {ActiveFiles:1 ActiveBytes:5 DeletedFiles:1 DeletedBytes:4 OldVersions:0 OldBytes:0}
}

// The files of a set are downloaded as one zip, with their sums.
func ExampleSets_Archive() {
	ctx, c, set, stop := bench()
	defer stop()
	put(ctx, c, set.ID, "notes/a.txt", "alpha")
	put(ctx, c, set.ID, "notes/b.txt", "beta")
	archive, err := c.Sets.Archive(ctx, set.ID)
	fatal(err)
	whole, err := io.ReadAll(archive) // use a file instead: it may be large
	fatal(errors.Join(err, archive.Close()))
	files, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	fatal(err)
	for _, file := range files.File {
		fmt.Println(file.Name)
	}
	// Output:
	// notes/a.txt
	// notes/b.txt
	// SHA256SUMS
	// manifest.json
}
