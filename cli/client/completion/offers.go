package completion

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/client"
)

const (
	// Timeout bounds the wait for the service after the tab key was pressed.
	Timeout = 2 * time.Second
	// mostOffered bounds the number of names for a shell.
	mostOffered = 1000
)

// Offer returns completions of typed. Each may have a tab and a description after the word.
type Offer func(ctx context.Context, c *client.Client, typed string) []cobra.Completion

// Words offers constant words.
func Words(list ...string) Offer {
	return func(context.Context, *client.Client, string) []cobra.Completion { return list }
}

// Either combines several offers.
func Either(offers ...Offer) Offer {
	return func(ctx context.Context, c *client.Client, typed string) (offered []cobra.Completion) {
		for _, o := range offers {
			offered = append(offered, o(ctx, c, typed)...)
		}
		return offered
	}
}

// Matching collects the names that begin with typed, with their descriptions.
func Matching[T any](records iter.Seq2[T, error], typed string, of func(T) (name, about string)) (list []cobra.Completion) {
	for record, err := range records {
		if err != nil || len(list) == mostOffered {
			return list
		}
		if name, about := of(record); strings.HasPrefix(name, typed) {
			list = append(list, cobra.CompletionWithDesc(display.Printable(name), display.Printable(about)))
		}
	}
	return list
}

// Dataspaces offers dataspaces by name.
func Dataspaces(state string) Offer {
	return func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
		return Matching(c.Dataspaces.List(ctx, client.ListOptions{State: state, Limit: reference.PageSize}), typed,
			func(d client.Dataspace) (string, string) { return d.Name, d.Title })
	}
}

// Sets offers sets by name or, after DATASPACE/, the sets of the dataspace.
func Sets(state string) Offer {
	return func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
		o := client.ListOptions{State: state, Limit: reference.PageSize}
		space, _, inOne := strings.Cut(typed, "/")
		if !inOne {
			return Matching(c.Sets.List(ctx, o), typed, func(s client.Set) (string, string) { return s.Name, s.Title })
		}
		d, found, err := reference.LookupDataspace(ctx, c, space)
		if err != nil || !found {
			return nil
		}
		return Matching(c.Dataspaces.Sets(ctx, d.ID, o), typed, func(s client.Set) (string, string) { return space + "/" + s.Name, s.Title })
	}
}

// Resources offers sets or, after SET:, resources of the set, folder by folder.
func Resources(state string) Offer {
	return func(ctx context.Context, c *client.Client, typed string) (list []cobra.Completion) {
		set, prefix, inSet := strings.Cut(typed, ":")
		if !inSet {
			for _, s := range Sets(client.Active)(ctx, c, typed) {
				name, about, _ := strings.Cut(s, "\t")
				list = append(list, cobra.CompletionWithDesc(name+":", about))
			}
			return list
		}
		s, found, err := reference.LookupSet(ctx, c, set, client.Active)
		if err != nil || !found {
			return nil
		}
		seen := map[string]bool{}
		o := client.ListOptions{State: state, NamePrefix: prefix, Limit: reference.PageSize}
		for r, err := range firstPage[client.Resource](ctx, c, o.At(s.Resources)) {
			name, folder := r.Name, strings.IndexByte(r.Name[min(len(prefix), len(r.Name)):], '/')
			if folder >= 0 {
				name = r.Name[:len(prefix)+folder+1]
			}
			if name = display.Printable(set + ":" + name); err == nil && !seen[name] {
				seen[name] = true
				list = append(list, name)
			}
		}
		return list
	}
}

// firstPage yields the records on the first page of a listing.
func firstPage[T client.Listed](ctx context.Context, c *client.Client, url string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		page, err := client.FetchPage[T](ctx, c, url)
		for _, record := range page.Data {
			if !yield(record, err) {
				return
			}
		}
	}
}

// Users offers users by name.
func Users(state string) Offer {
	return func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
		return Matching(c.Users.List(ctx, client.ListOptions{State: state, Limit: reference.PageSize}), typed,
			func(u client.User) (string, string) { return u.Username, u.Fullname })
	}
}

// SetsOrResources offers sets or, after SET:, resources of the set.
func SetsOrResources(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
	if strings.Contains(typed, ":") {
		return Resources(client.Active)(ctx, c, typed)
	}
	return Sets(client.Active)(ctx, c, typed)
}

// IntoDataspaces offers dataspaces as the beginning of DATASPACE/NAME.
func IntoDataspaces(ctx context.Context, c *client.Client, typed string) (list []cobra.Completion) {
	for _, d := range Dataspaces(client.Active)(ctx, c, typed) {
		name, about, _ := strings.Cut(d, "\t")
		list = append(list, cobra.CompletionWithDesc(name+"/", about))
	}
	return list
}

// Query offers the beginnings of words in a search. After "in:" it offers dataspaces and, behind a
// slash, their sets; after "by:" users.
func Query(ctx context.Context, c *client.Client, typed string) (list []cobra.Completion) {
	within := func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
		if strings.Contains(typed, "/") {
			return Sets(client.Active)(ctx, c, typed)
		}
		return IntoDataspaces(ctx, c, typed)
	}
	for field, offer := range map[string]Offer{"in:": within, "by:": Users(client.Active)} {
		if value, begun := strings.CutPrefix(typed, field); begun {
			for _, o := range offer(ctx, c, value) {
				list = append(list, field+o)
			}
			return list
		}
	}
	for _, field := range []string{"by:", "created:", "creator:", "in:", "is:incomplete", "modified:", "name:", "size:", "tag:", "type:"} {
		if strings.HasPrefix(field, typed) {
			list = append(list, field)
		}
	}
	return list
}
