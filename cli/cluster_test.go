package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"labshelf/internal/servers"
)

// TestClusterScript runs the program with PostgreSQL and S3: see testdata/cluster. Each script has
// its own database and bucket, named in cluster/config.toml.
func TestClusterScript(t *testing.T) {
	t.Parallel()
	database, store := servers.StartPostgres(t), servers.StartS3(t)
	params := scripts("testdata/cluster")
	prepare := params.Setup
	params.Setup = func(env *testscript.Env) error {
		address, err := database.NewDatabase()
		if err != nil {
			return err
		}
		folder := filepath.Join(env.WorkDir, "cluster")
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
		settings, err := servers.Settings(address, store, folder)
		if err != nil {
			return err
		}
		settings += fmt.Sprintf("data = %q\n", folder)
		return errors.Join(prepare(env), os.WriteFile(filepath.Join(folder, "config.toml"), []byte(settings), 0o600))
	}
	testscript.Run(t, params)
}
