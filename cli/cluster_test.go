package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"labshelf/verify/servers"
)

// TestClusterScript runs the program with a PostgreSQL and an S3: see testdata/cluster. Each script has a database and a bucket of its own,
// which cluster/config.toml names.
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
		bucket, err := store.NewBucket()
		if err != nil {
			return err
		}
		folder := filepath.Join(env.WorkDir, "cluster")
		keys := fmt.Sprintf("aws_access_key_id = %s\naws_secret_access_key = %s\n", store.AccessKey, store.SecretKey)
		settings := fmt.Sprintf("metadata = %q\nblobs = %q\ns3_endpoint = %q\ns3_region = %q\ns3_keys = %q\ndata = %q\n",
			address, "s3://"+bucket+"/data", store.Endpoint(), store.Region, filepath.Join(folder, "s3.keys"), folder)
		return errors.Join(prepare(env), os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "s3.keys"), []byte(keys), 0o600),
			os.WriteFile(filepath.Join(folder, "config.toml"), []byte(settings), 0o600))
	}
	testscript.Run(t, params)
}
