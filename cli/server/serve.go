package server

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"labshelf/cli/config"
)

func serveCommand(p process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Long: `serve runs the service until it gets SIGTERM or SIGINT (Ctrl-C); then it
finishes the requests under way. A second signal ends it at once.

The data directory is made if there is none. The first start on an empty one
makes the user "admin", a sysadmin, prints its key once and writes it there to
initial-admin.key. LABSHELF_ADMIN_KEY chooses the key instead; it counts on the
first start only.

Every setting is a flag (--base-url), a variable of the environment
(LABSHELF_BASE_URL; an empty one counts as not set) and a key in the
configuration file (base_url). The first of these that is given counts. The
file is the one that --config or LABSHELF_CONFIG names, else config.toml in the
data directory, if there is one. Paths are relative to where the program is
started. "labshelf help config > config.toml" writes one with every key and its
default.`,
		Args:        cobra.NoArgs,
		Annotations: exits(exitLocked, exitInUse, exitDamaged, exitInterrupted),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(cmd.Flags(), p.environ)
			if err == nil {
				err = c.Check()
			}
			if err != nil {
				return err
			}
			log, requests, flush := newLog(c, p.stderr)
			defer flush()
			s := server{config: c, log: log, requests: requests, ready: func(at started) {
				greet(p.stdout, c, at)
				tellManager(log)
			}}
			return untilSignal(s.run)
		},
	}
	config.AddFlags(cmd.Flags())
	return cmd
}

// untilSignal calls run and ends its context at the first signal. At the second it returns without
// waiting.
func untilSignal(run func(context.Context) error) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	for range 2 {
		select {
		case err := <-ended:
			return err
		case <-signals:
			stop()
		}
	}
	return errInterrupted
}

// tellManager tells systemd that the service is ready, where that has started it as Type=notify:
// what is ordered behind it begins then.
func tellManager(log zerolog.Logger) {
	if _, err := daemon.SdNotify(false, daemon.SdNotifyReady); err != nil {
		log.Warn().Err(err).Msg("systemd could not be told that the service is ready")
	}
}

// invocation returns how people run this program in another terminal and the same folder: by its
// name where that is found, else as it was run now.
func invocation() string {
	if _, err := exec.LookPath(program); err == nil {
		return program
	}
	path, err := os.Executable()
	switch {
	case err != nil:
		return program
	case strings.Contains(path, "go-build"): // by go run, which removes it afterwards
		return "go run ."
	case strings.ContainsRune(os.Args[0], filepath.Separator):
		return os.Args[0]
	}
	return path
}

// greet prints where the service is, and how to try it. The text is for people, not for programs.
func greet(out io.Writer, c config.Config, at started) {
	base := at.address
	if c.BaseURL != nil {
		base = c.BaseURL.String()
	}
	var text strings.Builder
	fmt.Fprintf(&text, "labshelf %s is ready.\n\n", version())
	fmt.Fprintf(&text, "  pages     %s/\n  address   %s\n", strings.TrimSuffix(base, "/v1"), at.address)
	if base != at.address {
		fmt.Fprintf(&text, "  base URL  %s\n", base)
	}
	fmt.Fprintf(&text, "  data      %s\n  stop      Ctrl-C\n\n", at.data)
	login, setKey := invocation()+" login "+strings.TrimSuffix(base, "/v1"), "KEY=...your key..."
	if at.firstKey != "" {
		fmt.Fprintf(&text, "There is one user, admin, a sysadmin. Its key is shown only now:\n\n  %s\n\n"+
			"It is also in %s;\ndelete that file when the key is stored elsewhere.\n\n", at.firstKey, at.keyPath)
		login, setKey = fmt.Sprintf("%s < '%s'", login, at.keyPath), fmt.Sprintf("KEY=$(cat '%s')", at.keyPath)
	}
	fmt.Fprintf(&text, "Try it in another terminal:\n\n  %s\n\nOr with nothing but curl:\n\n  %s\n  curl -H \"Authorization: $KEY\" %s/users/me\n\n",
		login, setKey, base)
	_, _ = io.WriteString(out, text.String())
}
