package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Login is one service that somebody signed in to on this machine.
type Login struct {
	User string `json:"user"` // for people: the key decides
	Key  string `json:"key"`
}

// Logins are the keys that "login" stored for this person on this machine, in a file that nobody else can read.
type Logins struct {
	Current  string           `json:"current"`  // the base URL of the service that is meant when none is named, or ""
	Services map[string]Login `json:"services"` // by base URL

	path string
}

// StoredLogins reads the logins; where nobody signed in there are none. It refuses a file that others can read: they may have
// taken the keys.
func StoredLogins() (Logins, error) {
	l := Logins{Services: map[string]Login{}}
	dir, err := os.UserConfigDir()
	if err != nil {
		return l, nil // who has no home has never signed in
	}
	l.path = filepath.Join(dir, "labshelf", "logins.json")
	info, err := os.Stat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err != nil:
		return l, err
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return l, fmt.Errorf("others can read %s (mode %04o) and the keys in it; revoke them if somebody did, and make it yours alone with: chmod 600 %s",
			l.path, info.Mode().Perm(), l.path)
	}
	text, err := os.ReadFile(l.path)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("%s is not what login wrote: %w; delete it and sign in again", l.path, err)
	}
	if l.Services == nil {
		l.Services = map[string]Login{}
	}
	return l, nil
}

// save writes the logins, all or none.
func (l Logins) save() (err error) {
	if l.path == "" {
		return errors.New("there is nowhere to keep the key: this user has no folder for configuration (set HOME, or use LABSHELF_KEY)")
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(l.path), "logins-*") // made with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), l.path)
}
