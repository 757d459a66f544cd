package maintenance_test

import (
	"errors"
	"testing"

	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/internal/rows"
	"labshelf/repository/repositorytest"
)

// kept is a repository with its files on disk, for tests that damage and maintain them.
type kept struct{ *repositorytest.Disk }

func newKept(t *testing.T, config repository.Config, counts ...int) *kept {
	t.Helper()
	return &kept{repositorytest.NewDisk(t, config, counts...)}
}

// ReplaceUnkept replaces a file and removes the row of its former version, so that nothing refers
// to the former bytes. It returns the stamp of the removal.
func (k *kept) ReplaceUnkept(r metadata.Resource, content string) (gone metadata.Stamp) {
	k.T.Helper()
	k.Replace(r, content)
	k.OK(k.Meta.Update(k.T.Context(), func(tx *metadata.Tx) error {
		v, err := tx.Versions.Get(r.VersionKey())
		if err != nil {
			return err
		}
		gone = tx.Stamp()
		why := metadata.Removal{At: gone, Rule: metadata.ByRetention, Kept: metadata.Retention{Last: 1}}
		return errors.Join(rows.RemoveVersion(tx, rows.Change{Action: audit.VersionPurge}, v, why, v.Replaced),
			rows.CountUsage(tx, r.DataspaceID, v.Replaced.Day(), rows.CountedVersion(v).Negated()))
	}))
	return gone
}
