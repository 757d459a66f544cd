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
		Long: `serve runs the service until it receives SIGTERM or SIGINT (Ctrl-C). It then
finishes the running requests. A second signal ends it immediately.

serve creates the data directory if it does not exist. The first start on an
empty directory creates the user "admin", a sysadmin, prints its key once and
writes it to initial-admin.key there. LABSHELF_ADMIN_KEY sets the key instead;
only the first start reads it.

Every setting is a flag (--base-url), an environment variable
(LABSHELF_BASE_URL; an empty variable is ignored) and a key in the configuration
file (base_url), in this order of precedence. --config or LABSHELF_CONFIG names
the file; the default is config.toml in the data directory, if it exists.
Relative paths are relative to the current directory. "labshelf help config >
config.toml" writes a file with every key and its default.`,
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

// tellManager notifies systemd that the service is ready if systemd started it as Type=notify.
// systemd then starts the units that wait for it.
func tellManager(log zerolog.Logger) {
	if _, err := daemon.SdNotify(false, daemon.SdNotifyReady); err != nil {
		log.Warn().Err(err).Msg("systemd could not be notified that the service is ready")
	}
}

// invocation returns the command that runs this program in another terminal and the same folder:
// its name if that is in PATH, otherwise the path of this run.
func invocation() string {
	if _, err := exec.LookPath(process.Program); err == nil {
		return process.Program
	}
	path, err := os.Executable()
	switch {
	case err != nil:
		return process.Program
	case strings.Contains(path, "go-build"): // "go run" removes its file afterwards
		return "go run ."
	case strings.ContainsRune(os.Args[0], filepath.Separator):
		return os.Args[0]
	}
	return path
}

// greet prints the address of the service, and how to try it. The text is for people, not for
// programs.
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
			"The key is also in %s;\ndelete that file when the key is stored elsewhere.\n\n", at.firstKey, at.keyPath)
		login, setKey = fmt.Sprintf("%s < '%s'", login, at.keyPath), fmt.Sprintf("KEY=$(cat '%s')", at.keyPath)
	}
	fmt.Fprintf(&text, "Try it in another terminal:\n\n  %s\n\nOr only with curl:\n\n  %s\n  curl -H \"Authorization: $KEY\" %s/users/me\n\n",
		login, setKey, base)
	_, _ = io.WriteString(out, text.String())
}
