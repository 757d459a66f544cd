package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"labshelf/auth"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/cli/config"
	"labshelf/cli/datadir"
	"labshelf/cli/exit"
	"labshelf/cli/process"
	"labshelf/cli/server/demo"
	"labshelf/repository"
)

func demoCommand(p process.Process) *cobra.Command {
	listen := "127.0.0.1:0"
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show a repository with sample data",
		Long: `demo runs the service on a temporary data directory with sample dataspaces,
sets, files and users. It prints a link for each user that signs you in as that
user. When you press Ctrl-C, it ends and removes everything.`,
		Args:        cobra.NoArgs,
		Annotations: exit.Codes(exit.CodeInUse, exit.CodeInterrupted),
		RunE: func(*cobra.Command, []string) (err error) {
			folder, err := os.MkdirTemp("", "labshelf-demo-")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
			c, err := demoConfig(folder, listen)
			if err != nil {
				return err
			}
			people, err := fillDemo(context.Background(), folder)
			if err != nil {
				return err
			}
			log, requests, flush := newLog(c, p.Err)
			defer flush()
			s := server{config: c, log: log, requests: requests, ready: func(at started) { showDemo(p.Out, at, people) }}
			return process.UntilSignal(s.run)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", listen, "`HOST:PORT` to listen on; port 0 selects any free port")
	return cmd
}

// demoConfig returns the default configuration. It ignores the environment and files.
func demoConfig(folder, listen string) (config.Config, error) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.AddFlags(flags)
	if err := errors.Join(flags.Set("data", folder), flags.Set("listen", listen), flags.Set("log-level", zerolog.WarnLevel.String())); err != nil {
		return config.Config{}, err
	}
	c, err := config.Load(flags, nil)
	if err == nil {
		err = c.Check()
	}
	return c, err
}

// fillDemo creates the sample repository, with a history of some weeks.
func fillDemo(ctx context.Context, folder string) (people []demo.Person, err error) {
	clock := demo.NewClock(time.Now())
	meta, err := bolt.Open(filepath.Join(folder, datadir.MetadataFile), bolt.Options{Now: clock.Now})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, meta.Close()) }()
	store, err := directory.Open(folder, directory.OS{})
	if err != nil {
		return nil, err
	}
	repo := repository.New(meta, store, repository.Config{Now: clock.Now})
	defer repo.Close()
	key, err := repo.Users.Bootstrap(ctx, auth.NewKey())
	if err != nil {
		return nil, err
	}
	return demo.Fill(ctx, repo, clock, key)
}

// showDemo prints the people who can sign in, and their links. The key comes after the # of a link,
// which browsers do not send.
func showDemo(out io.Writer, at started, people []demo.Person) {
	pages := strings.TrimSuffix(at.address, "/v1")
	var text strings.Builder
	fmt.Fprintf(&text, "A sample repository is ready; it is deleted when you press Ctrl-C.\n\nOpen one of these in a browser:\n\n")
	for _, p := range people {
		fmt.Fprintf(&text, "  %s/signin#%s\n", pages, p.Key)
		fmt.Fprintf(&text, "      %s, %s\n\n", p.Username, p.Role)
	}
	fmt.Fprintf(&text, "Or in another terminal:\n\n  curl -H \"Authorization: %s\" %s/dataspaces\n\n", people[len(people)-1].Key, at.address)
	_, _ = io.WriteString(out, text.String())
}
