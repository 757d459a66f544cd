package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/metadata"
)

// format is the format of a backup. No release wrote the formats before it.
const format = 3

// maxManifest is the greatest size of a manifest, in bytes: it has a line for each lost file.
const maxManifest = 256 << 20

// Manifest describes one snapshot in a backup.
type Manifest struct {
	Format  int            `json:"format"`
	Number  int64          `json:"number,omitzero"` // greater in later snapshots of a folder
	Program string         `json:"program"`         // name and version of the program
	Created time.Time      `json:"created"`
	Stamp   metadata.Stamp `json:"stamp"` // the last change in it

	Identity metadata.Identity `json:"identity,omitzero"` // of the repository
	Epoch    Epoch             `json:"epoch,omitzero"`    // zero without epochs

	AuditHead string `json:"auditHead,omitzero"` // signed, of the whole log

	Database Database `json:"database"`
	Blobs    extent   `json:"blobs"`             // recorded in the metadata
	Damaged  []string `json:"damaged,omitempty"` // digests of blobs that were already lost, ascending
	Digest   string   `json:"digest"`            // SHA-256 of all other fields, in hex
}

// Epoch is a metadata.Epoch, with the names of its parts in a manifest.
type Epoch struct {
	ID    metadata.EpochID `json:"id"`
	Base  metadata.Stamp   `json:"base"`
	Began metadata.Stamp   `json:"began"`
}

// Name returns the name of the snapshot in its folder.
func (m *Manifest) Name() string {
	return strings.TrimSuffix(strings.TrimPrefix(m.Database.File, metaPrefix), metaSuffix)
}

// Database is the metadata file of a backup.
type Database struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // in hex
}

// name returns the name of the metadata file. It differs from the name of an older file with other
// content, which must stay until the manifest refers to the new one.
func (d Database) name(stamp metadata.Stamp) string {
	return fmt.Sprintf("%s%d-%s%s", metaPrefix, stamp, d.SHA256[:8], metaSuffix)
}

// lost reports whether a blob was lost when the backup was created.
func (m *Manifest) lost(digest blobs.Digest) bool {
	_, found := slices.BinarySearch(m.Damaged, digest.String())
	return found
}

// seal returns the digest over the other fields of the manifest.
func (m Manifest) seal() (string, error) {
	m.Digest = ""
	text, err := json.Marshal(m)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// write replaces the manifest of this name in a folder. All files that it refers to must be on
// stable storage. At any moment the old or the new manifest exists.
func (m *Manifest) write(disk directory.FS, folder, name string) (err error) {
	slices.Sort(m.Damaged)
	if m.Digest, err = m.seal(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	fresh := filepath.Join(folder, "tmp", manifestFile)
	file, err := disk.Create(fresh)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, disk.Remove(fresh))
	}
	if err := disk.Rename(fresh, filepath.Join(folder, name)); err != nil {
		return err
	}
	return disk.SyncDir(folder)
}

// Two kinds of ErrBroken that callers distinguish.
var (
	errNoManifest  = fmt.Errorf("%w: there is no %s: this is not a backup, or no backup was ever completed here", ErrBroken, manifestFile)
	errOtherFormat = fmt.Errorf("%w: it has another format", ErrBroken)
)

// readManifest returns the manifest of this name in a folder. Every error is ErrBroken.
func readManifest(folder, name string) (m Manifest, err error) {
	path := filepath.Join(folder, name)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, errNoManifest
	case err != nil:
		return m, err
	case !info.Mode().IsRegular() || info.Size() > maxManifest:
		return m, fmt.Errorf("%w: %s is not a manifest", ErrBroken, name)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	var version struct{ Format int }
	if err := json.Unmarshal(text, &version); err != nil {
		return m, fmt.Errorf("%w: %s is damaged: %w", ErrBroken, name, err)
	}
	if version.Format != format {
		return m, fmt.Errorf("%w, %d; this program supports %d", errOtherFormat, version.Format, format)
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&m); err != nil {
		return m, fmt.Errorf("%w: %s is damaged: %w", ErrBroken, name, err)
	}
	if sum, err := m.seal(); err != nil || sum != m.Digest {
		return m, fmt.Errorf("%w: %s has been changed: its digest differs", ErrBroken, name)
	}
	if len(m.Database.SHA256) != hex.EncodedLen(sha256.Size) || m.Database.File != m.Database.name(m.Stamp) {
		return m, fmt.Errorf("%w: %s does not name a metadata file of a backup", ErrBroken, name)
	}
	return m, nil
}
