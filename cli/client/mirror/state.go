package mirror

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"labshelf/cli/client/fetch"
	"labshelf/formats/archive"
)

// The entries in the folder of a mirror.
const (
	filesName    = "files"          // the files
	metadataName = "metadata.jsonl" // one line for each change of a resource; the last one counts
	stateName    = "state.json"     // a state
	readmeName   = "README.txt"     // explains the folder
	incomingName = "incoming"       // files that are being fetched or renamed
	straysName   = "strays"         // foreign files that were moved away
	lockName     = ".lock"          // locked by the run that changes the mirror
)

// mirrorFormat is the version of the layout.
const mirrorFormat = 1

// errMirror means that the state or the log is damaged. A walk from the start repairs it.
var errMirror = errors.New("the mirror is damaged")

// state is the content of state.json. The lines of a page are first appended to metadata.jsonl. The
// state that counts these lines commits them, together with the address of the next page. Then the
// files move to the paths in the lines; after a crash the next run does this.
type state struct {
	Format  int      `json:"format"`
	Service string   `json:"service"`         // base URL
	Listing string   `json:"listing"`         // the URL of its first page, relative to Service
	Asked   []string `json:"asked,omitempty"` // the references by which users named it
	User    string   `json:"user,omitempty"`  // id; only for the listing of all, which differs between users

	Next       string            `json:"next"`                // URL of the next page
	Walks      map[string]string `json:"walks,omitempty"`     // the same for dataspaces that have become readable, by id
	Dataspaces map[string]string `json:"dataspaces,omitzero"` // for the listing of all: names of the dataspaces that Next covers, by id
	FromStart  bool              `json:"fromStart,omitempty"` // a walk from the start is unfinished; until its end nothing counts as removed

	Metadata  journal   `json:"metadata"`
	Unsettled bool      `json:"unsettled,omitempty"` // of several files with the same name, the wrong one may have it
	Missing   int       `json:"missing,omitempty"`   // files that could not be fetched, and will be tried again
	Files     int       `json:"files"`
	Bytes     int64     `json:"bytes"`
	Deleted   int       `json:"deleted"` // resources
	Changed   time.Time `json:"changed,omitzero"`
}

// journal is the valid part of metadata.jsonl.
type journal struct {
	Bytes     int64 `json:"bytes"`               // committed bytes; the rest is an unfinished batch
	Lines     int   `json:"lines"`               // lines in these bytes
	Done      int64 `json:"done"`                // bytes up to which the lines have been applied
	Left      bool  `json:"left,omitempty"`      // in the lines after Done, all moving files have left their old paths
	Compacted int64 `json:"compacted,omitempty"` // size of the compacted file that will replace it; 0: no such file
}

// mirror is the copy of a listing in a folder that this process has locked.
type mirror struct {
	fetch.Folder
	dir      string // as given by the caller
	lockFile *os.File
	log      *os.File // metadata.jsonl
	state    state
	fresh    bool // no state exists yet

	index      map[string]*entry     // by the id of the resource; nil until needed
	containers map[string]*container // by the id of the set
	paths      *archive.Paths        // paths in the index, and paths assigned by this run
}

// openMirror opens the mirror in a folder, which it creates if necessary. With fromStart, a damaged
// state counts as no state. Errors: fetch.ErrLocked, errMirror. The caller closes it.
func openMirror(dir string, fromStart bool) (*mirror, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	m := &mirror{Folder: fetch.Folder{Root: root}, dir: dir}
	err = m.lock()
	if err == nil {
		err = m.readState()
	}
	if errors.Is(err, errMirror) && fromStart {
		m.state, m.fresh, err = state{}, true, nil
	}
	if err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

func (m *mirror) lock() (err error) {
	if m.lockFile, err = m.Root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return err
	}
	err = fetch.Lock(m.lockFile)
	switch {
	case errors.Is(err, fetch.ErrLocked):
		return fmt.Errorf("%s: %w: another harvest into this folder is running; wait for it, or choose another folder", m.dir, err)
	case err != nil:
		return fmt.Errorf("lock %s: %w", m.dir, err)
	}
	return nil
}

func (m *mirror) close() error {
	var errs []error
	if m.log != nil {
		errs = append(errs, m.log.Close())
	}
	if m.lockFile != nil {
		errs = append(errs, fetch.Unlock(m.lockFile))
	}
	return errors.Join(append(errs, m.Root.Close())...)
}

// damagedf returns an errMirror with advice.
func (m *mirror) damagedf(format string, args ...any) error {
	return fmt.Errorf("%w: %s\nrun the command again with --from-start: it keeps the complete files in %s and fetches the rest", errMirror, fmt.Sprintf(format, args...), m.dir)
}

// readState reads the state; without a state, the folder must be empty.
func (m *mirror) readState() error {
	text, err := m.Root.ReadFile(stateName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.fresh = true
		return m.checkEmpty()
	case err != nil:
		return err
	}
	var version struct{ Format int }
	if json.Unmarshal(text, &version) == nil && version.Format > mirrorFormat {
		return fmt.Errorf("a newer labshelf created the mirror in %s; use that version", m.dir)
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil || s.Format != mirrorFormat || s.Listing == "" || s.Next == "" ||
		s.Metadata.Done > s.Metadata.Bytes || s.Metadata.Done < 0 {
		return m.damagedf("%s is not a valid state file", stateName)
	}
	m.state = s
	return nil
}

// checkEmpty returns an error unless the folder is empty, except for an unfinished first run.
func (m *mirror) checkEmpty() error {
	names, err := m.Names(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		switch {
		case name == lockName, name == stateName+".new", name == metadataName && m.HasFile(name, 0):
		case name == metadataName:
			return m.damagedf("%s is missing", stateName)
		default:
			return fmt.Errorf("%s is neither empty nor a mirror; name an empty or new folder", m.dir)
		}
	}
	return nil
}

func (m *mirror) writeState() error {
	text, err := json.MarshalIndent(m.state, "", "  ")
	if err != nil {
		return err
	}
	return m.Replace(stateName, append(text, '\n'))
}

// readme explains the folder to people who find it.
const readme = `This folder is a mirror of a listing of a labshelf, created by "labshelf
harvest". Run the same command again to update it; state.json names the listing.

files/          The files, under the names that they have there. Each has the
                time of its last change. Do not change anything here: later
                runs overwrite changed files, and move added ones to strays/.
metadata.jsonl  A line of JSON for each resource, as the service returns it,
                with the "path" of its file, and the names of its "dataspace"
                and "set" if files/ has folders for them. Deleted resources
                have the "state" "deleted" and no path. If two lines have the
                same "id", the later one counts. A line with "dropped" belongs
                to a resource that can no longer be read.
state.json      The progress. It is needed to fetch only changes.
incoming/       Exists only while files arrive.
strays/         Files that were found in files/ and did not belong there.
`

// writeReadme writes the readme if it is missing.
func (m *mirror) writeReadme() error {
	if m.Exists(readmeName) {
		return nil
	}
	return m.Replace(readmeName, []byte(readme))
}

// removeLeftovers removes the files of interrupted runs. The mirror must be complete.
func (m *mirror) removeLeftovers() error {
	for _, name := range []string{stateName + ".new", metadataName + ".new", readmeName + ".new"} {
		if m.Exists(name) {
			if err := m.Remove(name); err != nil {
				return err
			}
		}
	}
	if !m.Exists(incomingName) {
		return nil
	}
	return m.Change(func() error { return m.Root.RemoveAll(incomingName) })
}
