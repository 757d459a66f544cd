package backup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"labshelf/metadata"
)

// catalog is the snapshots in a backup, by their manifests.
type catalog struct {
	latest  *Manifest  // the snapshot of manifest.json
	missing error      // reason why latest is nil
	earlier []Manifest // all others, oldest first
	damaged []Unusable // manifests of earlier snapshots that cannot be read
}

// Unusable is a manifest that cannot be read. Its snapshot is neither restored nor removed.
type Unusable struct {
	Name string // of the snapshot
	Err  error  // ErrBroken
}

// readCatalog reads all manifests. A missing folder has no manifests.
func readCatalog(folder string) (c catalog, err error) {
	latest, err := readManifest(folder, manifestFile)
	switch {
	case err == nil:
		c.latest = &latest
	case errors.Is(err, ErrBroken):
		c.missing = err
	default:
		return c, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	for _, entry := range entries {
		name, ok := between(entry.Name(), earlier, earlierEnd)
		if !ok {
			continue
		}
		m, err := readManifest(folder, entry.Name())
		if err == nil && m.Name() != name {
			err = fmt.Errorf("%w: %s is the manifest of another snapshot, %s", ErrBroken, entry.Name(), m.Name())
		}
		switch {
		case errors.Is(err, ErrBroken):
			c.damaged = append(c.damaged, Unusable{name, err})
		case err != nil:
			return c, err
		case c.latest == nil || name != c.latest.Name(): // otherwise it was about to become an earlier one
			c.earlier = append(c.earlier, m)
		}
	}
	slices.SortStableFunc(c.earlier, func(a, b Manifest) int { return cmp.Compare(a.Number, b.Number) })
	return c, nil
}

// all returns every snapshot, oldest first.
func (c *catalog) all() []Manifest {
	if c.latest == nil {
		return c.earlier
	}
	return append(slices.Clip(c.earlier), *c.latest)
}

// next returns the number of the next snapshot.
func (c *catalog) next() (number int64) {
	for _, m := range c.all() {
		number = max(number, m.Number)
	}
	return number + 1
}

// named reports whether a snapshot has a manifest, readable or not.
func (c *catalog) named(name string) bool {
	return slices.ContainsFunc(c.all(), func(m Manifest) bool { return m.Name() == name }) ||
		slices.ContainsFunc(c.damaged, func(u Unusable) bool { return u.Name == name })
}

// At selects a snapshot in a backup. The zero At selects the latest.
type At struct {
	name  string
	until metadata.Stamp
	text  string // as given
}

var snapshotName = regexp.MustCompile(`^\d+-[0-9a-f]{8}$`)

// moments are the layouts of a time, and the period of each.
var moments = []struct {
	layout string
	unit   time.Duration
}{
	{time.DateOnly, 24 * time.Hour},
	{"2006-01-02 15:04", time.Minute}, {"2006-01-02 15:04Z07:00", time.Minute},
	{"2006-01-02 15:04:05.000", time.Millisecond}, {"2006-01-02 15:04:05.000Z07:00", time.Millisecond},
	{time.DateTime, time.Second}, {"2006-01-02 15:04:05Z07:00", time.Second},
}

// ParseAt parses the name of a snapshot, as in [List], or a time, as in 2026-11-23, 2026-11-23
// 14:05:59 (UTC) or 2026-11-23T14:05:59+01:00. A time selects the snapshot with the latest change
// that is not after that day, minute, second or millisecond.
func ParseAt(text string) (At, error) {
	if snapshotName.MatchString(text) {
		return At{name: text, text: text}, nil
	}
	spaced := strings.TrimSuffix(text, " UTC")
	if len(text) > len(time.DateOnly) && text[len(time.DateOnly)] == 'T' {
		spaced = strings.Replace(spaced, "T", " ", 1)
	}
	for _, m := range moments {
		if at, err := time.Parse(m.layout, spaced); err == nil {
			return At{until: metadata.Stamp(at.Add(m.unit).UnixMicro() - 1), text: text}, nil
		}
	}
	return At{}, fmt.Errorf("%q is neither the name of a snapshot nor a time, such as 2026-11-23, 2026-11-23 14:05 (UTC) or 2026-11-23T14:05:59+01:00", text)
}

// pick returns the manifest of the snapshot that at selects. Among the snapshots without a change
// after a time, it is the one that was created last, so that a date does not select a state that a
// restoration has undone. Errors: ErrBroken, ErrNoSnapshot.
func (c *catalog) pick(at At) (best Manifest, err error) {
	if at == (At{}) {
		if c.latest == nil {
			return best, c.missing
		}
		return *c.latest, nil
	}
	found := false
	for _, m := range c.all() {
		if at.name == m.Name() || at.name == "" && m.Stamp <= at.until {
			best, found = m, true // the snapshots are in the order of their creation
		}
	}
	if found {
		return best, nil
	}
	for _, u := range c.damaged {
		if u.Name == at.name {
			return best, u.Err
		}
	}
	return best, fmt.Errorf("%w: %s", ErrNoSnapshot, at.text)
}

// between returns the part of a name between a prefix and a suffix.
func between(name, begin, end string) (string, bool) {
	rest, begins := strings.CutPrefix(name, begin)
	rest, ends := strings.CutSuffix(rest, end)
	return rest, begins && ends
}

func (m *Manifest) earlierName() string { return earlier + m.Name() + earlierEnd }

func (m *Manifest) metadata(folder string) string { return filepath.Join(folder, m.Database.File) }
