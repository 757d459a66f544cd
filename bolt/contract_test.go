package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/metadata/tables"
	"labshelf/repository/repositorytest"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(cascadesChild); path != "" {
		os.Exit(cascadeChild(path, os.Getenv(cascadesChild+"_DO"), os.Getenv(cascadesChild+"_SET")))
	}
	goleak.VerifyTestMain(m)
}

// checkIntegrity reports all errors in the file: pages that are unreachable or used twice according
// to bbolt, rows without their entries, entries without their rows, and stamps from the future.
// Every test of a store ends with it.
func checkIntegrity(t testing.TB, s *Store) {
	t.Helper()
	if err := checkPages(s); err != nil {
		t.Error(err)
	}
	if err := s.Inspect(t.Context(), func(v metadata.Violation) { t.Errorf("violation: %v", v) }); err != nil {
		t.Errorf("check: %v", err)
	}
}

// checkPages checks the pages in a write transaction, because bbolt compares them with the current
// free list.
func checkPages(s *Store) (err error) {
	btx, err := s.db.Begin(!s.db.IsReadOnly())
	if err != nil {
		return err
	}
	for wrong := range btx.Check() {
		err = errors.Join(err, wrong)
	}
	return errors.Join(err, btx.Rollback())
}

// reviewed is a store that is checked when it is closed, except for its stamps, because the suite
// uses arbitrary stamps.
type reviewed struct{ *Store }

func (r reviewed) Close() error {
	err := checkPages(r.Store)
	_, failed := r.read(context.Background(), func(k *kv, _ *tables.Tx) error {
		report := func(v metadata.Violation) { err = errors.Join(err, fmt.Errorf("violation: %v", v)) }
		tables.CheckRows(k, func() error { return nil }, catchFault, report)
		return nil
	})
	return errors.Join(err, failed, r.Store.Close())
}

func openReviewed(dir string, now func() time.Time) (metadata.Store, error) {
	s, err := Open(filepath.Join(dir, "meta.db"), Options{Now: now})
	if err != nil {
		return nil, err
	}
	return reviewed{s}, nil
}

func TestContract(t *testing.T) { metadatatest.Run(t, openReviewed) }

func TestContractAgainstModel(t *testing.T) {
	metadatatest.Compare(t, openReviewed, "meta.db", repositorytest.Purge)
}
