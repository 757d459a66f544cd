package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"labshelf/cli/client/command"
	"labshelf/cli/connection"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/cli/logins"
	"labshelf/client"
)

// maxKey is the longest line that is read as a key, in bytes.
const maxKey = 4 << 10

func loginCommand(p command.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "login URL",
		Short: "Store the address of a service and a key for it",
		Long: `login prompts for a key, verifies it, and stores it with the address of the
service in a file that only you can read (logins.json in your configuration
folder). The other commands then use this service, unless --server or
LABSHELF_SERVER selects another one. login reads the key from the terminal,
without echo, or from the first line of standard input. The key cannot be an
argument, because other users of the machine can read arguments.

URL is the address of the web pages or of the API, with or without /v1. The
address of a dataspace, set or file in the browser works, too.`,
		Example: "  labshelf login https://data.example.org\n  labshelf login http://127.0.0.1:8080 < initial-admin.key",
		Args:    command.Exactly(1, "the address of the service, such as https://data.example.org"),
		RunE: func(_ *cobra.Command, args []string) error {
			base, err := connection.BaseURL(args[0])
			if err != nil {
				return exit.Usagef("%q %w", args[0], err)
			}
			return p.UntilSignal(func(ctx context.Context) error {
				key, err := askKey(ctx, p, base)
				if err != nil {
					return err
				}
				return login(ctx, p, base, key, asJSON)
			})
		},
		Annotations: exit.Codes(exit.CodeInterrupted),
	}
	command.JSONFlag(cmd, &asJSON)
	return cmd
}

// askKey reads a key without echo.
func askKey(ctx context.Context, p command.Process, base string) (string, error) {
	text, err := askLine(ctx, p, "Key for "+base+": ")
	key := strings.TrimSpace(text)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%w before a key was entered; no key was stored", exit.ErrInterrupted)
	case err != nil:
		return "", fmt.Errorf("read the key: %w", err)
	case key == "":
		return "", exit.Usagef("no key was given; write one to standard input, or run this command on a terminal and type it")
	case strings.ContainsAny(key, " \t"):
		return "", exit.Usagef("a key contains no spaces; give only the key")
	}
	return key, nil
}

// askLine reads a line from standard input. On a terminal it shows the question, turns echo off,
// and restores the terminal before it returns, also after the end of the context. The end of the
// context does not end the read itself.
func askLine(ctx context.Context, p command.Process, question string) (string, error) {
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
			_ = term.Restore(fd, before) // fails only if the terminal is closed
			_, _ = display.Fprintln(p.Err)
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

func login(ctx context.Context, p command.Process, base, key string, asJSON bool) error {
	kept, err := logins.Stored()
	if err != nil {
		return err
	}
	if host := connection.Unencrypted(base); host != "" {
		if _, err := display.Fprintf(p.Err, "labshelf: warning: the key goes to %s without encryption; use https\n", host); err != nil {
			return err
		}
	}
	c := client.New(base, key)
	defer c.Close()
	me, err := c.Users.Me(ctx)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w before the key was verified; it was not stored", exit.ErrInterrupted)
	case err != nil:
		return adviseLogin(base, err)
	}
	kept.Current, kept.Services[base] = base, logins.Login{User: me.Username, Key: key}
	if err := kept.Save(); err != nil {
		return fmt.Errorf("store the key: %w", err)
	}
	return p.Done(signedIn{base, me.Username}, asJSON, "You are %s at %s. The key is stored in %s.\n", display.Printable(me.Username), base, kept.Path)
}

// adviseLogin adds advice to an error of the first call.
func adviseLogin(base string, err error) error {
	var problem *client.Problem
	switch {
	case command.Unreachable(err):
		return fmt.Errorf("%w\nis the service running, and is the address right?", err)
	case errors.As(err, &problem) && problem.Status == 401:
		return fmt.Errorf("%w\nthe key is invalid or incomplete; a sysadmin can create one: labshelf key new --user NAME", err)
	case errors.As(err, &problem) && problem.OfGateway():
		return fmt.Errorf("%w\n%s", err, command.GatewayAdvice)
	case errors.As(err, &problem) && (problem.Code == "" || problem.Code == "not_found"):
		return fmt.Errorf("%w\nis %s the address of a labshelf service? In a browser it is the part before /dataspaces or /sets", err, base)
	}
	return command.AdviseTLS(err)
}

func logoutCommand(p command.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "logout [URL]",
		Short: "Remove the stored key for a service",
		Long: `logout removes the stored key of a service: the one at URL, or the service of
the last login. The key itself stays valid; "labshelf key revoke" revokes it.`,
		Example: "  labshelf logout\n  labshelf logout https://data.example.org",
		Args:    command.AtMost(1, "the address of one service"),
		RunE: func(_ *cobra.Command, args []string) error {
			kept, err := logins.Stored()
			if err != nil {
				return err
			}
			base := kept.Current
			if len(args) == 1 {
				if base, err = connection.BaseURL(args[0]); err != nil {
					return exit.Usagef("%q %w", args[0], err)
				}
			}
			if _, there := kept.Services[base]; !there {
				return errors.New("there is no login for that service")
			}
			delete(kept.Services, base)
			if kept.Current == base {
				kept.Current = ""
			}
			if err := kept.Save(); err != nil {
				return err
			}
			return p.Done(signedIn{Server: base}, asJSON, "Removed the key for %s.\n", base)
		},
	}
	command.JSONFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return command.LoggedIn(cmd, args, typed)
	}
	return cmd
}

// signedIn is the JSON of login and logout.
type signedIn struct {
	Server string `json:"server"`
	User   string `json:"user,omitempty"`
}
