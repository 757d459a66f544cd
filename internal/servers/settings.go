package servers

import (
	"fmt"
	"os"
	"path/filepath"
)

// Settings returns the configuration of a node for a database address and a new, empty bucket in an
// S3 server. It writes the keys of the S3 server to a file in a folder.
func Settings(database string, store *S3, folder string) (string, error) {
	bucket, err := store.NewBucket()
	if err != nil {
		return "", err
	}
	keys := filepath.Join(folder, "s3.keys")
	text := fmt.Appendf(nil, "aws_access_key_id = %s\naws_secret_access_key = %s\n", store.AccessKey, store.SecretKey)
	return fmt.Sprintf("metadata = %q\nblobs = %q\ns3_endpoint = %q\ns3_region = %q\ns3_keys = %q\n",
		database, "s3://"+bucket+"/data", store.Endpoint(), store.Region, keys), os.WriteFile(keys, text, 0o600)
}
