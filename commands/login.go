package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"labshelf/client"
)

// maxKey is the size in bytes beyond which a line is no key.
const maxKey = 4 << 10

func loginCommand(p Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "login URL",
		Short: "Keep the address of a service and a key for it",
		Long: `login asks for a key, tries it, and keeps it with the address of the service in
a file that nobody else can read (logins.json in your folder for configuration).
From then on the other commands ask this service, until --server names another
one or LABSHELF_SERVER does. The key is read from the terminal, where it is not
shown, or is the first line of standard input; it is never an argument, since
other users of the machine can read those.

URL is the address of the pages or of the interface, with or without /v1; that
of a dataspace, set or file in the browser will do.`,
		Example: "  labshelf login https://data.example.org\n  labshelf login http://127.0.0.1:8080 < initial-admin.key",
		Args:    exactly(1, "the address of the service, such as https://data.example.org"),
		RunE: func(_ *cobra.Command, args []string) error {
			text := args[0]
			if a, ok := parseAddress(text); ok && a.kind != "" { // of one of its pages
				text = a.root
			}
			base, err := p.BaseURL(text)
			if err != nil {
				return usagef("%q %w", args[0], err)
			}
			return p.UntilSignal(func(ctx context.Context) error {
				key, err := p.askKey(ctx, base)
				if err != nil {
					return err
				}
				return p.login(ctx, base, key, asJSON)
			})
		},
		Annotations: p.ExitCodes(130),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// askKey reads a key without showing it.
func (p Process) askKey(ctx context.Context, base string) (string, error) {
	text, err := p.askLine(ctx, "Key for "+base+": ")
	key := strings.TrimSpace(text)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%w before a key was given; none is kept", ErrInterrupted)
	case err != nil:
		return "", fmt.Errorf("read the key: %w", err)
	case key == "":
		return "", usagef("no key was given; write one on standard input, or run this on a terminal and type it")
	case strings.ContainsAny(key, " \t"):
		return "", usagef("a key has no spaces in it; give the key and nothing else")
	}
	return key, nil
}

// askLine reads a line from standard input. A terminal shows the question and not the answer, and is as it was before when askLine
// returns, also where that is because the context has ended: reading itself does not end with it.
func (p Process) askLine(ctx context.Context, question string) (string, error) {
	read := func() (string, error) {
		text, err := bufio.NewReader(io.LimitReader(p.In, maxKey)).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return text, err
	}
	if file, ok := p.In.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		fd := int(file.Fd())
		before, err := term.GetState(fd)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprint(p.Err, question)
		defer func() {
			_ = term.Restore(fd, before) // one that is gone shows nothing
			_, _ = fmt.Fprintln(p.Err)
		}()
		read = func() (string, error) {
			typed, err := term.ReadPassword(fd)
			return string(typed), err
		}
	}
	type line struct {
		text string
		error
	}
	typed := make(chan line, 1)
	go func() {
		text, err := read()
		typed <- line{text, err}
	}()
	select {
	case got := <-typed:
		return got.text, got.error
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (p Process) login(ctx context.Context, base, key string, asJSON bool) error {
	logins, err := StoredLogins()
	if err != nil {
		return err
	}
	c := client.New(base, key)
	defer c.Close()
	me, err := c.Me(ctx)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w before the key was tried; it is not kept", ErrInterrupted)
	case err != nil:
		return adviseLogin(base, err)
	}
	logins.Current, logins.Services[base] = base, Login{User: me.Username, Key: key}
	if err := logins.save(); err != nil {
		return fmt.Errorf("keep the key: %w", err)
	}
	return p.done(signedIn{base, me.Username}, asJSON, "You are %s at %s. The key is kept in %s.\n", printable(me.Username), base, logins.path)
}

// adviseLogin adds to the error of the first call what a person can do about it.
func adviseLogin(base string, err error) error {
	var problem *client.Problem
	switch {
	case unreachable(err):
		return fmt.Errorf("%w\nis it running, and is the address right?", err)
	case errors.As(err, &problem) && problem.Status == 401:
		return fmt.Errorf("%w\nthat is no key which is valid there, or not the whole of it; a sysadmin makes one: labshelf key new --user NAME", err)
	case errors.As(err, &problem) && (problem.Code == "" || problem.Code == "not_found"):
		return fmt.Errorf("%w\nis %s the address of a labshelf? What stands in the browser before /dataspaces or /sets is", err, base)
	}
	return adviseTLS(err)
}

func logoutCommand(p Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "logout [URL]",
		Short: "Forget a service and the key for it",
		Long: `logout forgets the key that login kept for a service: the one at URL, or the one
that was signed in to last. The key stays valid, wherever else it is; "labshelf
key revoke" ends it.`,
		Example: "  labshelf logout\n  labshelf logout https://data.example.org",
		Args:    atMost(1, "the address of one service"),
		RunE: func(_ *cobra.Command, args []string) error {
			logins, err := StoredLogins()
			if err != nil {
				return err
			}
			base := logins.Current
			if len(args) == 1 {
				if base, err = p.BaseURL(args[0]); err != nil {
					return usagef("%q %w", args[0], err)
				}
			}
			if _, there := logins.Services[base]; !there {
				return errors.New("nobody is signed in there; there is nothing to forget")
			}
			delete(logins.Services, base)
			if logins.Current == base {
				logins.Current = ""
			}
			if err := logins.save(); err != nil {
				return err
			}
			return p.done(signedIn{Server: base}, asJSON, "Forgot the key for %s.\n", base)
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return loggedIn(cmd, args, typed)
	}
	return cmd
}

// signedIn is what login and logout tell programs.
type signedIn struct {
	Server string `json:"server"`
	User   string `json:"user,omitempty"`
}

// loggedIn offers the services that there are keys for.
func loggedIn(_ *cobra.Command, _ []string, typed string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	logins, err := StoredLogins()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, base := range slices.Sorted(maps.Keys(logins.Services)) {
		if strings.HasPrefix(base, typed) {
			list = append(list, base)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// arguments says how many were given.
func arguments(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// exactly is the rule for a command with n arguments, which what describes.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("want %s; got %s", what, arguments(len(args)))
		}
		return nil
	}
}

// atMost is the rule for a command with up to n arguments, which what describes.
func atMost(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > n {
			return fmt.Errorf("want at most %s; got %s", what, arguments(len(args)))
		}
		return nil
	}
}
