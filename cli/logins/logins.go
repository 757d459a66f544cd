// Package logins stores the keys of the services that a user is logged in to on this machine.
package logins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Login is the login to one service.
type Login struct {
	User string `json:"user"` // for display: the service knows the user by the key
	Key  string `json:"key"`
}

// Logins are the stored logins of this user, in a file that no other user can read.
type Logins struct {
	Current  string           `json:"current"`  // base URL of the default service, or ""
	Services map[string]Login `json:"services"` // by base URL

	Path string `json:"-"` // of the file; not stored, since a home directory may be copied or renamed
}

// Stored reads the logins. Without a file it returns no logins. It rejects a file that other users
// can read: they may have copied the keys.
func Stored() (Logins, error) {
	l := Logins{Services: map[string]Login{}}
	dir, err := os.UserConfigDir()
	if err != nil {
		return l, nil // nothing can be stored without a home directory
	}
	l.Path = filepath.Join(dir, "labshelf", "logins.json")
	info, err := os.Stat(l.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err != nil:
		return l, err
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return l, fmt.Errorf("others can read %s (mode %04o) and the keys in it; revoke the keys if that may have happened, and make the file private with: chmod 600 %s",
			l.Path, info.Mode().Perm(), l.Path)
	}
	text, err := os.ReadFile(l.Path)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &l); err != nil {
		return l, fmt.Errorf("%s is not a valid login file: %w; delete it and sign in again", l.Path, err)
	}
	if l.Services == nil {
		l.Services = map[string]Login{}
	}
	return l, nil
}

// Save writes the logins atomically.
func (l Logins) Save() (err error) {
	if l.Path == "" {
		return errors.New("the key cannot be stored: this user has no folder for configuration (set HOME, or use LABSHELF_KEY)")
	}
	if err := os.MkdirAll(filepath.Dir(l.Path), 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(l.Path), "logins-*") // CreateTemp sets mode 0600
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
	return os.Rename(file.Name(), l.Path)
}
