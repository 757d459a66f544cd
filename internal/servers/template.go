package servers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// copyTemplate creates the data folder of a new server by copying a template, because initdb is
// much slower. The template is created once per machine, in the folder for temporary files. A
// template that other users can write to is not used.
func copyTemplate(data string) error {
	program, err := postgresProgram("initdb")
	if err != nil {
		return err
	}
	version, err := exec.Command(program, "--version").Output()
	if err != nil {
		return err
	}
	fields := strings.Fields(string(version)) // for example: initdb (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)
	if len(fields) < 3 {
		return fmt.Errorf("%s has the version %q", program, version)
	}
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("labshelf-tests-%d", os.Getuid()))
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return initialize(program, data)
	}
	template := filepath.Join(folder, "postgres-"+fields[2])
	if _, err := os.Stat(template); errors.Is(err, os.ErrNotExist) {
		err = makeTemplate(program, template)
		if err != nil {
			return err
		}
	}
	return copyFolder(template, data)
}

// makeTemplate creates a template next to its final path, and then renames it, because another
// process may create the same template.
func makeTemplate(program, template string) (err error) {
	made, err := os.MkdirTemp("", "postgres-template-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(made)) }()
	if err := unprivileged(new(exec.Cmd), made); err != nil {
		return err
	}
	data := filepath.Join(made, "data")
	if err := initialize(program, data); err != nil {
		return err
	}
	near, err := os.MkdirTemp(filepath.Dir(template), "new-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(near)) }()
	if err := copyFolder(data, filepath.Join(near, "data")); err != nil {
		return err
	}
	err = os.Rename(filepath.Join(near, "data"), template)
	if _, there := os.Stat(template); there == nil {
		return nil // created by either process
	}
	return err
}

// initialize creates a data folder that belongs to the user of the server.
func initialize(program, data string) error {
	secret := data + ".password"
	if err := os.WriteFile(secret, []byte(password), 0o600); err != nil {
		return err
	}
	cmd := exec.Command(program, "-D", data, "-U", admin, "--pwfile", secret, "-A", "scram-sha-256", "-E", "UTF8", "--no-sync", "--no-instructions",
		"--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US")
	if err := unprivileged(cmd, secret); err != nil {
		return err
	}
	cmd.Env, cmd.Dir = environment(), filepath.Dir(data)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, output)
	}
	return os.Remove(secret)
}

// copyFolder copies a folder including modes and owners.
func copyFolder(from, to string) error {
	if output, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, output)
	}
	return nil
}
