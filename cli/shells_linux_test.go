package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"labshelf/cli/process"
	"labshelf/client"
)

// canary is a command in file names. A shell that completes the names must not run it.
const canary = "touch pwned"

// hardNames are file names with characters that some shell interprets. The common prefix of a pair
// has such characters, too.
var hardNames = []string{
	"with space.csv", "it's.csv", `say "hi".csv`, "Grüße 日本.csv", "a$HOME.csv", "b`" + canary + "`.csv", "colon:x=y.csv", "2026/11/run 1.csv",
	"semi;x&.csv", `k\x.csv`, "star*[x]{y}.csv", "~tilde", "#hash", "!bang!!", "my file 1", "my file 2", "p'q a", "p'q b", "\"x1", "\"x2",
	"$(" + canary + ")1", "$(" + canary + ")2", "(" + canary + ") 1", "(" + canary + ") 2", "o=1", "o=2", "-dash",
}

// shellHome is the home directory of a user who is signed in to a service. The service has the set
// "hard", with a file for each of hardNames. The content of each file is its name.
type shellHome struct {
	home, base string
	environ    []string
}

// startService runs a service in a new directory, on a free port, until the test ends.
func startService(t *testing.T) (base, key string) {
	t.Helper()
	key = strings.Repeat("k", 40)
	cmd := exec.Command(process.Program, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "LABSHELF_ADMIN_KEY="+key)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
			t.Error(err)
		}
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, after, ok := strings.Cut(lines.Text(), "address   "); ok {
			return after, key // the rest of the output fits into the pipe
		}
	}
	t.Fatal("the service does not start")
	return "", ""
}

func newShellHome(t *testing.T) shellHome {
	t.Helper()
	base, key := startService(t)
	c := client.New(base, key)
	t.Cleanup(c.Close)
	space, err := c.Dataspaces.Create(t.Context(), client.NewDataspace{Name: "lab-one", Title: "Laser $(touch pwned) 'lab' 日本"})
	if err != nil {
		t.Fatal(err)
	}
	for name, title := range map[string]string{"hard": "Hard \"names\": all", "hardly": "", "runs-2026": "Runs of 2026", "lab-one": "The set"} {
		set, err := c.Sets.Create(t.Context(), client.NewSet{DataspaceID: space.ID, Name: name, Title: title})
		if err != nil {
			t.Fatal(err)
		}
		if name != "hard" {
			continue
		}
		for _, file := range hardNames {
			if _, err := c.Resources.Create(t.Context(), client.NewResource{SetID: set.ID, Name: file}, strings.NewReader(file), int64(len(file))); err != nil {
				t.Fatal(err)
			}
		}
	}
	d := shellHome{home: t.TempDir(), base: base}
	if err := os.WriteFile(filepath.Join(d.home, "here.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(d.home, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.environ = []string{
		"HOME=" + d.home, "XDG_CONFIG_HOME=" + d.home + "/config", "XDG_DATA_HOME=" + d.home + "/data", "ZDOTDIR=" + d.home,
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TERM=xterm", "COLUMNS=160", "LINES=50",
	}
	login := d.command(process.Program, "login", base)
	login.Stdin = strings.NewReader(key)
	if text, err := login.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return d
}

func (d shellHome) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = d.home, d.environ
	return cmd
}

// unhurt fails the test if a shell has run a name as a command.
func (d shellHome) unhurt(t *testing.T) {
	t.Helper()
	if _, err := os.Lstat(filepath.Join(d.home, "pwned")); err == nil {
		t.Error("completion ran a command in a file name")
	}
}

// needShell skips the test if the shell is not installed.
func needShell(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// At ^Xp, each shell prints its line between these marks, and clears it.
const (
	bashStart = `PS1='> '; HISTFILE=; bind 'set enable-bracketed-paste off'; bind 'set completion-query-items 0'; bind 'set page-completions off'
show() { printf '<<<%s>''>>\n' "$READLINE_LINE"; READLINE_LINE= READLINE_POINT=0; }
bind -x '"\C-xp": show'
eval "$(labshelf completion bash)"
echo rea''dy
`
	zshStart = `PS1='> '; unset zle_bracketed_paste; autoload -U compinit; compinit -u -D; zstyle ':completion:*' list-prompt ''; LISTMAX=9999
show() { print -rn -- "<<<$BUFFER>"">>"; BUFFER= }; zle -N show; bindkey -e; bindkey '^Xp' show; setopt nobeep noautomenu
eval "$(labshelf completion zsh)"
echo rea''dy
`
)

// completions are typed lines with their completions. The quotes work in both bash and zsh.
var completions = []struct{ typed, want string }{
	{"labshelf harv\t", "labshelf harvest "},
	{"labshelf dataspace mem\t", "labshelf dataspace members "},
	{"labshelf get --fo\t", "labshelf get --force "},
	{"labshelf ls --server \t", "labshelf ls --server BASE "},
	{"labshelf ls --server=ht\t", "labshelf ls --server=BASE "},
	{"labshelf ls --order ol\t", "labshelf ls --order oldest "},
	{"labshelf dataspace members \t", "labshelf dataspace members lab-one "},
	{"labshelf dataspace members l\t", "labshelf dataspace members lab-one "},
	{"labshelf ls la\t", "labshelf ls lab-one "}, // completes a dataspace, then a set
	{"labshelf ls lab-one/r\t", "labshelf ls lab-one/runs-2026 "},
	{"labshelf harvest ru\t", "labshelf harvest runs-2026 "},
	{"labshelf put here.txt ru\t", "labshelf put here.txt runs-2026 "},
	{"labshelf put h\t", "labshelf put here.txt "},
	{"labshelf get hard fo\t", "labshelf get hard folder/"},
	{"labshelf cat hardl\t", "labshelf cat hardly:"},
	{"labshelf ls > her\t", "labshelf ls > here.txt "},
	{"labshelf ls nothing\t", "labshelf ls nothing"},
	{"labshelf cat hard:my\t", `labshelf cat hard:my\ file\ `},
	{`labshelf cat hard:my\ f` + "\t2\t", `labshelf cat hard:my\ file\ 2 `},
	{`labshelf cat 'hard:my` + "\t2\t", `labshelf cat 'hard:my file 2' `},
	{`labshelf cat "hard:p` + "\t", `labshelf cat "hard:p'q `},
	{`labshelf cat "hard:a` + "\t", `labshelf cat "hard:a\$HOME.csv" `},
	{`labshelf cat 'hard:2` + "\t", `labshelf cat 'hard:2026/`},
	{"labshelf cat hard:colon:\t", `labshelf cat hard:colon:x=y.csv `},
	{"labshelf cat hard:o\t", `labshelf cat hard:o=`},
	{"labshelf cat hard:G\t", `labshelf cat hard:Grüße\ 日本.csv `},
	{"labshelf cat hard:\\$\t\t", `labshelf cat hard:\$\(touch\ pwned\)`},
	{"labshelf cat hard:\\(\t\t", `labshelf cat hard:\(touch\ pwned\)\ `},
}

func TestBashCompletes(t *testing.T) {
	needShell(t, "bash")
	t.Parallel()
	d := newShellHome(t)
	term := d.terminal(t, "bash", "--norc", "--noprofile", "-i")
	d.completes(t, term, bashStart, map[string]string{
		`labshelf cat "hard:p'q `: `labshelf cat "hard:p'q `,
	})
}

func TestZshCompletes(t *testing.T) {
	needShell(t, "zsh")
	t.Parallel()
	d := newShellHome(t)
	term := d.terminal(t, "zsh", "-f", "-i")
	d.completes(t, term, zshStart, nil)
}

// completes tests the completions in a shell on a terminal, and prints each of the hard files by
// its completed name. instead replaces some lines for this shell.
func (d shellHome) completes(t *testing.T, term *terminal, begin string, instead map[string]string) {
	t.Helper()
	if _, err := io.WriteString(term, begin); err != nil {
		t.Fatal(err)
	}
	term.waitFor(t, `ready\r\n`)
	for i, c := range completions {
		if testing.Short() && i%3 != 0 {
			continue // each completion starts a program, which is slow under the race detector
		}
		want := strings.ReplaceAll(c.want, "BASE", d.base)
		if other, ok := instead[want]; ok {
			want = other
		}
		if got, shown := term.types(t, c.typed); got != want {
			t.Errorf("%q was completed to %q, want %q; shown %q", c.typed, got, want, shown)
		}
	}
	if _, shown := term.types(t, "labshelf ls \t\t"); !strings.Contains(shown, "hardly") || !strings.Contains(shown, "Runs of 2026") ||
		!strings.Contains(shown, "Laser $(touch pwned) 'lab' 日本") {
		t.Errorf("nothing typed: %q", shown)
	}
	if _, shown := term.types(t, "labshelf \t\t"); !strings.Contains(shown, "Upload files and folders to a set") {
		t.Errorf("nothing typed: %q", shown)
	}
	quotes := []string{"", "'", `"`}
	for i, name := range hardNames {
		for j, quote := range quotes {
			if !testing.Short() || i%6 == j {
				d.completesOne(t, term, name, quote)
			}
		}
	}
	d.unhurt(t)
}

// completesOne types the shortest unique prefix of a name, completes it, and runs the line.
func (d shellHome) completesOne(t *testing.T, term *terminal, name, quote string) {
	t.Helper()
	only := 1
	for slices.ContainsFunc(hardNames, func(other string) bool { return other != name && strings.HasPrefix(other, name[:only]) }) {
		only++
	}
	typed := name[:only]
	switch quote {
	case "":
		typed = regexp.MustCompile(`[^\w=:-]`).ReplaceAllString(typed, `\$0`)
	case "'":
		typed = strings.ReplaceAll(typed, "'", `'\''`)
	default:
		typed = regexp.MustCompile("[\"$`\\\\]").ReplaceAllString(typed, `\$0`)
		if strings.Contains(typed, "!") {
			return // a line that has already run, after any prompt
		}
	}
	line, shown := term.types(t, "labshelf cat "+quote+"hard:"+typed+strings.Repeat("\t", 1+strings.Count(name, "/")))
	shell := d.command("bash", "-c", line)
	if strings.HasSuffix(t.Name(), "ZshCompletes") {
		shell = d.command("zsh", "-fc", line)
	}
	if got, err := shell.Output(); err != nil || string(got) != name {
		t.Errorf("%q with %q: %q wrote %q, %v; shown %q", name, quote, line, got, err, shown)
	}
}

func TestFishCompletes(t *testing.T) {
	needShell(t, "fish")
	t.Parallel()
	d := newShellHome(t)
	folder := filepath.Join(d.home, "config", "fish", "completions")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	script, err := d.command(process.Program, "completion", "fish").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "labshelf.fish"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	offers := func(line string) []string {
		t.Helper()
		ask := d.command("fish", "-c", "complete -C $LINE")
		ask.Env = append(ask.Env, "LINE="+line)
		text, err := ask.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v, %s", line, err, text)
		}
		return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	}
	for line, want := range map[string]string{
		"labshelf harv":                 "harvest\tMirror a set, a dataspace, or everything to a folder",
		"labshelf dataspace mem":        "members\tList the users with a role in a dataspace",
		"labshelf get --fo":             "--force\treplace existing files that have other content",
		"labshelf ls --server ":         d.base,
		"labshelf ls --server=ht":       "--server=" + d.base,
		"labshelf ls --order ol":        "oldest",
		"labshelf dataspace members ":   "lab-one\tLaser $(touch pwned) 'lab' 日本",
		"labshelf ls lab-one/r":         "lab-one/runs-2026\tRuns of 2026",
		"labshelf put here.txt ru":      "runs-2026\tRuns of 2026",
		"labshelf put h":                "here.txt",
		"labshelf get hard fo":          "folder/",
		"labshelf cat hardl":            "hardly:",
		"labshelf cat hard:2":           "hard:2026/",
		`labshelf cat hard:my\ file\ 2`: "hard:my file 2",
		`labshelf cat 'hard:my file 2`:  "hard:my file 2",
		`labshelf cat "hard:p'q b`:      "hard:p'q b",
		"labshelf cat hard:G":           "hard:Grüße 日本.csv",
	} {
		got := offers(line)
		if one, _, _ := strings.Cut(got[0], "\t"); len(got) != 1 || got[0] != want && one != want {
			t.Errorf("%q offers %q, want %q", line, got, want)
		}
	}
	if got := offers("labshelf ls "); !slices.Contains(got, "hard\tHard \"names\": all") || !slices.Contains(got, "hardly") {
		t.Errorf("nothing typed: %q", got)
	}
	if got := offers("labshelf "); !slices.Contains(got, "put\tUpload files and folders to a set") {
		t.Errorf("nothing typed: %q", got)
	}
	got := offers("labshelf cat hard:")
	for _, name := range hardNames {
		if folder, _, deep := strings.Cut(name, "/"); !slices.Contains(got, "hard:"+name) && !(deep && slices.Contains(got, "hard:"+folder+"/")) {
			t.Errorf("no %q in %q", name, got)
		}
	}
	offers(`labshelf cat hard:\(touch\ pwned\)\ 1 hard:\$\(touch\ pwned\)1 `)
	d.unhurt(t)
}

// TestPowerShellKeepsEnvironment: a PowerShell script runs in the shell process, so its variables
// remain set afterwards. Every command rejects unknown LABSHELF variables.
func TestPowerShellKeepsEnvironment(t *testing.T) {
	t.Parallel()
	script, err := exec.Command(process.Program, "completion", "powershell").Output()
	if err != nil || !strings.Contains(string(script), "Register-ArgumentCompleter -CommandName 'labshelf'") {
		t.Fatalf("%v, %s", err, script)
	}
	if setting := regexp.MustCompile(`(?i)\$\{?env:\w+\}? *=`).FindAll(script, -1); setting != nil {
		t.Errorf("it sets %q", setting)
	}
}

// TestTerminalShowsWaiting: on a terminal, a command reports that it waits for a service that does
// not answer.
func TestTerminalShowsWaiting(t *testing.T) {
	t.Parallel()
	d := shellHome{home: t.TempDir(), environ: []string{"HOME=" + t.TempDir(), "LABSHELF_KEY=lsk_any", "LABSHELF_SERVER=http://127.0.0.1:1/v1"}}
	term := d.terminal(t, process.Program, "ls")
	if before, _ := term.waitFor(t, `does not answer yet; trying again \(Ctrl-C stops\)\r\n`); !strings.HasSuffix(before, "http://127.0.0.1:1/v1 ") {
		t.Errorf("printed before: %q", before)
	}
	if before, _ := term.waitFor(t, `is the service running`); strings.Contains(before, "trying again") {
		t.Errorf("printed again: %q", before)
	}
	quiet := d.command(process.Program, "ls")
	if text, err := quiet.CombinedOutput(); err == nil || strings.Contains(string(text), "trying again") {
		t.Errorf("without a terminal: %v, %s", err, text)
	}
}
