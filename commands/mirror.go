package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"labshelf/archive"
)

// What is in the folder of a mirror.
const (
	filesName    = "files"          // the files
	metadataName = "metadata.jsonl" // a line for each resource, later ones instead of earlier ones
	stateName    = "state.json"     // how far the mirror is
	readmeName   = "README.txt"     // what all this is
	incomingName = "incoming"       // what is arriving or on its way to another name
	straysName   = "strays"         // what was in files without being of the mirror
	lockName     = ".lock"          // who has it works on the mirror
)

// mirrorFormat is the version of all that.
const mirrorFormat = 1

// errMirror says that what is kept of a mirror cannot be relied on. Only a walk from the start helps.
var errMirror = errors.New("the mirror is damaged")

// progress is how far a mirror is, as state.json has it.
//
// What a page brings is first written to the end of metadata.jsonl. With the state that counts these lines begins to hold what they
// say, and the address of the following page; whatever happens, the files are then brought to where the lines say that they are.
type progress struct {
	Format  int      `json:"format"`
	Service string   `json:"service"`         // base URL
	Listing string   `json:"listing"`         // the URL of its first page, below that
	Asked   []string `json:"asked,omitempty"` // what people called it
	User    string   `json:"user,omitempty"`  // id; of the whole service each sees something else

	Next       string            `json:"next"`                // URL of the page to be asked for next
	Walks      map[string]string `json:"walks,omitempty"`     // the same for dataspaces that could not be read earlier, by id
	Dataspaces map[string]string `json:"dataspaces,omitzero"` // names of those that Next has changes of, by id; of the whole service only
	FromStart  bool              `json:"fromStart,omitempty"` // everything is compared; until the end of that nothing is known to be gone

	Metadata  journal   `json:"metadata"`
	Unsettled bool      `json:"unsettled,omitempty"` // of files with the same name, the wrong one may have it
	Missing   int       `json:"missing,omitempty"`   // files that could not be got, and are tried again
	Files     int       `json:"files"`
	Bytes     int64     `json:"bytes"`
	Deleted   int       `json:"deleted"` // resources
	Changed   time.Time `json:"changed,omitzero"`
}

// journal is how far metadata.jsonl is.
type journal struct {
	Bytes     int64 `json:"bytes"`               // that count; what is behind them was not finished
	Lines     int   `json:"lines"`               // in them
	Done      int64 `json:"done"`                // bytes up to which the files are where the lines say
	Left      bool  `json:"left,omitempty"`      // of the lines behind these, all files that move have left their places
	Compacted int64 `json:"compacted,omitempty"` // bytes of the file that is to take its place
}

// mirror is the copy of a listing in a folder, open for this process alone.
type mirror struct {
	folder
	dir    string // as people call it
	locked *os.File
	log    *os.File // metadata.jsonl
	state  progress
	fresh  bool // there is nothing yet

	index map[string]*entry // by the id of the resource; nil until it is needed
	homes map[string]*home  // by the id of the set
	paths *archive.Paths    // all that are in the index, and all that this run has given out
}

// openMirror opens the mirror in a folder, or makes the folder. fromStart lets a damaged state pass, as a fresh one. Errors:
// errLocked, errMirror. The caller closes it.
func openMirror(dir string, fromStart bool) (*mirror, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	m := &mirror{folder: folder{root: root}, dir: dir}
	err = m.lock()
	if err == nil {
		err = m.readState()
	}
	if errors.Is(err, errMirror) && fromStart {
		m.state, m.fresh, err = progress{}, true, nil
	}
	if err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

func (m *mirror) lock() (err error) {
	if m.locked, err = m.root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return err
	}
	err = lock(m.locked)
	switch {
	case errors.Is(err, errLocked):
		return fmt.Errorf("%s: %w: another harvest into this folder is running; let it end, or choose another folder", m.dir, err)
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
	if m.locked != nil {
		errs = append(errs, unlock(m.locked))
	}
	return errors.Join(append(errs, m.root.Close())...)
}

// damagedf is an errMirror that says what to do.
func (m *mirror) damagedf(format string, args ...any) error {
	return fmt.Errorf("%w: %s\nrun it again with --from-start: it keeps what is whole in %s and fetches the rest", errMirror, fmt.Sprintf(format, args...), m.dir)
}

// readState reads the state, or finds a folder with nothing in it.
func (m *mirror) readState() error {
	text, err := m.root.ReadFile(stateName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.fresh = true
		return m.virgin()
	case err != nil:
		return err
	}
	var version struct{ Format int }
	if json.Unmarshal(text, &version) == nil && version.Format > mirrorFormat {
		return fmt.Errorf("the mirror in %s was made by a newer labshelf; use that one", m.dir)
	}
	var s progress
	if err := json.Unmarshal(text, &s); err != nil || s.Format != mirrorFormat || s.Listing == "" || s.Next == "" ||
		s.Metadata.Done > s.Metadata.Bytes || s.Metadata.Done < 0 {
		return m.damagedf("%s is not what harvest wrote", stateName)
	}
	m.state = s
	return nil
}

// virgin refuses a folder that holds something already.
func (m *mirror) virgin() error {
	names, err := m.names(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		switch {
		case name == lockName, name == stateName+".new", name == metadataName && m.has(name, 0):
		case name == metadataName:
			return m.damagedf("%s is missing", stateName)
		default:
			return fmt.Errorf("%s is neither empty nor a mirror; name a folder that is empty or still to be made", m.dir)
		}
	}
	return nil
}

func (m *mirror) writeState() error {
	text, err := json.MarshalIndent(m.state, "", "  ")
	if err != nil {
		return err
	}
	return m.replace(stateName, append(text, '\n'))
}

// readme is for whoever finds the folder.
const readme = `This folder is a mirror of a listing of a labshelf, made by "labshelf harvest".
Run the same command again to bring it up to date; state.json says of what it
is a mirror.

files/          The files, under the names that they have there. Each has the
                time of its last change. What is changed or added in here by
                hand is overwritten or moved to strays/ in the course of time.
metadata.jsonl  A line of JSON for each resource, as the service gives it, with
                the "path" of its file, and the names of its "dataspace" and
                its "set" where files/ has folders for them. Deleted resources
                have the "state" "deleted" and no path. Where two lines have
                the same "id" the later one counts, and one with "dropped" is
                of a resource that can no longer be read.
state.json      How far the mirror is. Needed to fetch only what has changed.
incoming/       Only while something is arriving.
strays/         What was found in files/ and was not of the mirror.
`

// furnish writes what else belongs into the folder of a mirror that has a state.
func (m *mirror) furnish() error {
	if m.there(readmeName) {
		return nil
	}
	return m.replace(readmeName, []byte(readme))
}

// clear removes what was left of runs that were interrupted. The mirror is complete.
func (m *mirror) clear() error {
	for _, name := range []string{stateName + ".new", metadataName + ".new", readmeName + ".new"} {
		if m.there(name) {
			if err := m.remove(name); err != nil {
				return err
			}
		}
	}
	if !m.there(incomingName) {
		return nil
	}
	return m.change(func() error { return m.root.RemoveAll(incomingName) })
}
