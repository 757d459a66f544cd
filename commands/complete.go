package commands

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"labshelf/client"
)

const (
	// completionTime is how long somebody waits who pressed the tabulator key.
	completionTime = 2 * time.Second
	// mostOffered is how many names a shell is offered: nobody reads more.
	mostOffered = 1000
)

// offer returns what an argument may be that begins with typed. Each may have a tab and a word on it for people.
type offer func(ctx context.Context, c *client.Client, typed string) []cobra.Completion

// completes lets shells complete the arguments of a command, the last offer also those after it where more is set. What cannot be
// found out is not offered, and nothing is said.
func (p Process) completes(cmd *cobra.Command, more bool, offers ...offer) *cobra.Command {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= len(offers) && !more {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return p.ask(cmd, offers[min(len(args), len(offers)-1)], typed)
	}
	return cmd
}

// completesFlag lets shells complete the value of a flag.
func (p Process) completesFlag(cmd *cobra.Command, flag string, o offer) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return p.ask(cmd, o, typed)
	})
	if err != nil {
		panic(err) // the command has no such flag
	}
}

// ask asks the service, if somebody is signed in there.
func (p Process) ask(cmd *cobra.Command, o offer, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	c, err := p.Connect(cmd.Flags(), false)
	if err != nil {
		return nil, directive
	}
	defer c.Close()
	ctx, stop := context.WithTimeout(context.Background(), completionTime)
	defer stop()
	offered := o(ctx, c.WithRetries(client.Retries{Tries: 1}), typed)
	if len(offered) > 0 {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	for _, text := range offered {
		if name, _, _ := strings.Cut(text, "\t"); !strings.HasSuffix(name, "/") && !strings.HasSuffix(name, ":") {
			directive &^= cobra.ShellCompDirectiveNoSpace
		}
	}
	return offered, directive
}

// words offers always the same.
func words(list ...string) offer {
	return func(context.Context, *client.Client, string) []cobra.Completion { return list }
}

// either offers what each of the offers does.
func either(offers ...offer) offer {
	return func(ctx context.Context, c *client.Client, typed string) (offered []cobra.Completion) {
		for _, o := range offers {
			offered = append(offered, o(ctx, c, typed)...)
		}
		return offered
	}
}

// offered collects the names that fit, with what they stand for.
func offered[T any](records iter.Seq2[T, error], typed string, of func(T) (name, about string)) (list []cobra.Completion) {
	for record, err := range records {
		if err != nil || len(list) == mostOffered {
			return list
		}
		if name, about := of(record); strings.HasPrefix(name, typed) {
			list = append(list, cobra.CompletionWithDesc(printable(name), printable(about)))
		}
	}
	return list
}

func dataspacesIn(state string) offer {
	return func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
		return offered(c.Dataspaces(ctx, client.ListOptions{State: state, Limit: wholePage}), typed,
			func(d client.Dataspace) (string, string) { return d.Name, d.Title })
	}
}

// setsIn offers sets by name or, once a dataspace is typed, as DATASPACE/NAME.
func setsIn(state string) offer {
	return func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
		o := client.ListOptions{State: state, Limit: wholePage}
		space, _, inOne := strings.Cut(typed, "/")
		if !inOne {
			return offered(c.Sets(ctx, o), typed, func(s client.Set) (string, string) { return s.Name, s.Title })
		}
		d, found, err := lookupDataspace(ctx, c, space)
		if err != nil || !found {
			return nil
		}
		return offered(c.DataspaceSets(ctx, d.ID, o), typed, func(s client.Set) (string, string) { return space + "/" + s.Name, s.Title })
	}
}

// resourcesIn offers sets, and once one is typed with its colon, resources of it, folder by folder.
func resourcesIn(state string) offer {
	return func(ctx context.Context, c *client.Client, typed string) (list []cobra.Completion) {
		set, prefix, inSet := strings.Cut(typed, ":")
		if !inSet {
			for _, s := range setsIn(client.Active)(ctx, c, typed) {
				name, about, _ := strings.Cut(s, "\t")
				list = append(list, cobra.CompletionWithDesc(name+":", about))
			}
			return list
		}
		s, found, err := lookupSet(ctx, c, set, client.Active)
		if err != nil || !found {
			return nil
		}
		seen := map[string]bool{}
		o := client.ListOptions{State: state, NamePrefix: prefix, Limit: wholePage}
		for r, err := range firstPage[client.Resource](ctx, c, o.At(s.Resources)) {
			name, folder := r.Name, strings.IndexByte(r.Name[min(len(prefix), len(r.Name)):], '/')
			if folder >= 0 {
				name = r.Name[:len(prefix)+folder+1]
			}
			if name = printable(set + ":" + name); err == nil && !seen[name] {
				seen[name] = true
				list = append(list, name)
			}
		}
		return list
	}
}

// firstPage yields what the first page of a listing holds.
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

func usersIn(state string) offer {
	return func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
		return offered(c.Users(ctx, client.ListOptions{State: state, Limit: wholePage}), typed,
			func(u client.User) (string, string) { return u.Username, u.Fullname })
	}
}
