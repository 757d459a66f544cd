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

// What is in the folder of a mirror.
const (
	filesName    = "files"          // the files
	metadataName = "metadata.jsonl" // a line for each resource, the last one counts
	stateName    = "state.json"     // a state
	readmeName   = "README.txt"     // explains the folder
	incomingName = "incoming"       // files that are arriving or being renamed
	straysName   = "strays"         // files that were in the way
	lockName     = ".lock"          // locked by the run that changes the mirror
)

// mirrorFormat is the version of the layout.
const mirrorFormat = 1

// errMirror means that the state or the log is damaged. A walk from the start repairs it.
var errMirror = errors.New("the mirror is damaged")

// state is the content of state.json. A page is first appended to metadata.jsonl. The state that
// counts these lines commits them, together with the address of the next page; the files are then
// moved to where the lines say, after a crash by the next run.
type state struct {
	Format  int      `json:"format"`
	Service string   `json:"service"`         // base URL
	Listing string   `json:"listing"`         // the URL of its first page, below that
	Asked   []string `json:"asked,omitempty"` // the references that named it
	User    string   `json:"user,omitempty"`  // id; set for the listing of all, which differs by user

	Next       string            `json:"next"`                // URL of the next page
	Walks      map[string]string `json:"walks,omitempty"`     // the same for dataspaces that became readable, by id
	Dataspaces map[string]string `json:"dataspaces,omitzero"` // names of those that Next covers, by id; for the listing of all
	FromStart  bool              `json:"fromStart,omitempty"` // a walk from the start is going on; until its end nothing counts as removed

	Metadata  journal   `json:"metadata"`
	Unsettled bool      `json:"unsettled,omitempty"` // of files with the same name, the wrong one may have it
	Missing   int       `json:"missing,omitempty"`   // files that could not be fetched, and are tried again
	Files     int       `json:"files"`
	Bytes     int64     `json:"bytes"`
	Deleted   int       `json:"deleted"` // resources
	Changed   time.Time `json:"changed,omitzero"`
}

// journal is how much of metadata.jsonl counts.
type journal struct {
	Bytes     int64 `json:"bytes"`               // committed; what follows is an unfinished batch
	Lines     int   `json:"lines"`               // in them
	Done      int64 `json:"done"`                // bytes up to which the lines have been applied
	Left      bool  `json:"left,omitempty"`      // of the lines after these, all files that move have left their old paths
	Compacted int64 `json:"compacted,omitempty"` // bytes of the compacted file that is to replace it
}

// mirror is the copy of a listing in a folder that this process has locked.
type mirror struct {
	fetch.Folder
	dir      string // as the caller named it
	lockFile *os.File
	log      *os.File // metadata.jsonl
	state    state
	fresh    bool // there is no state yet

	index      map[string]*entry     // by the id of the resource; nil until it is needed
	containers map[string]*container // by the id of the set
	paths      *archive.Paths        // those in the index, and those given out by this run
}

// openMirror opens the mirror in a folder, which it makes where there is none. fromStart takes a
// damaged state for a fresh one. Errors: fetch.ErrLocked, errMirror. The caller closes it.
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
	if m.lockFile != nil {
		errs = append(errs, fetch.Unlock(m.lockFile))
	}
	return errors.Join(append(errs, m.Root.Close())...)
}

// damagedf returns an errMirror that says what to do.
func (m *mirror) damagedf(format string, args ...any) error {
	return fmt.Errorf("%w: %s\nrun it again with --from-start: it keeps the files in %s that are complete and fetches the rest", errMirror, fmt.Sprintf(format, args...), m.dir)
}

// readState reads the state; where there is none, the folder must be empty.
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
		return fmt.Errorf("the mirror in %s was made by a newer labshelf; use that one", m.dir)
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil || s.Format != mirrorFormat || s.Listing == "" || s.Next == "" ||
		s.Metadata.Done > s.Metadata.Bytes || s.Metadata.Done < 0 {
		return m.damagedf("%s is not what harvest wrote", stateName)
	}
	m.state = s
	return nil
}

// checkEmpty returns an error unless the folder is empty, but for the beginnings of a mirror.
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
	return m.Replace(stateName, append(text, '\n'))
}

// readme explains the folder to people who find it.
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

// writeReadme writes the readme where there is none.
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
