package server

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"labshelf/cli/config"
	"labshelf/cli/exit"
	"labshelf/cli/group"
	"labshelf/cli/process"
)

// Commands returns the commands that run and maintain a service, each in its group of the help.
func Commands(p process.Process) []*cobra.Command {
	list := []*cobra.Command{serveCommand(p), demoCommand(p), doctorCommand(p)}
	for _, cmd := range list {
		cmd.GroupID = group.Run
	}
	care := []*cobra.Command{checkCommand(p), backupCommand(p), repairCommand(p), purgeCommand(p), compactCommand(p), migrateCommand(p)}
	for _, cmd := range care {
		cmd.GroupID = group.Care
	}
	return append(list, care...)
}

func serveCommand(p process.Process) *cobra.Command {
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
		Annotations: exit.Codes(exit.CodeLocked, exit.CodeInUse, exit.CodeDamaged, exit.CodeInterrupted),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(cmd.Flags(), p.Environ)
			if err == nil {
				err = c.Check()
			}
			if err != nil {
				return err
			}
			log, requests, flush := newLog(c, p.Err)
			defer flush()
			s := server{config: c, log: log, requests: requests, ready: func(at started) {
				greet(p.Out, c, at)
				tellManager(log)
			}}
			return process.UntilSignal(s.run)
		},
	}
	config.AddFlags(cmd.Flags())
	return cmd
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
	if _, err := exec.LookPath(process.Program); err == nil {
		return process.Program
	}
	path, err := os.Executable()
	switch {
	case err != nil:
		return process.Program
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
	fmt.Fprintf(&text, "labshelf %s is ready.\n\n", process.Version())
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
