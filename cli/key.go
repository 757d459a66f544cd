package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"labshelf/repository"
)

func keyCommand(p process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Make keys on the server, while the service is stopped",
		Args:  noSuchCommand,
		RunE:  wantSubcommand,
	}
	cmd.AddCommand(keyNewCommand(p))
	return cmd
}

func keyNewCommand(p process) *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:   "new --user NAME --data DIR",
		Short: "Make a key for a user: the way back in after a lost key",
		Long: `new makes a key for an active user and prints it, alone, on standard output.
Nothing can show it again. It is for whoever may read the data directory; the
service must be stopped meanwhile. The user's other keys stay valid.`,
		Args:        cobra.NoArgs,
		Annotations: exits(exitLocked, exitDamaged),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if user == "" {
				return usageError{errors.New("--user must name the user, such as --user admin")}
			}
			c, err := load(cmd.Flags(), p.environ)
			if err != nil {
				return err
			}
			key, err := newKey(cmd.Context(), c, user)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(p.stdout, key); err != nil {
				return fmt.Errorf("the key was made, but cannot be shown; make another one: %w", err)
			}
			_, err = fmt.Fprintf(p.stderr, "This is a new key for the user %s, shown only now. Revoke the lost one with it, if there is one.\n", user)
			return err
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "`NAME` of the user")
	addFlags(cmd.Flags(), "data")
	return cmd
}

// newKey makes a key for a user in a data directory that is there already.
func newKey(ctx context.Context, c config, user string) (key string, err error) {
	if _, err := os.Stat(filepath.Join(c.data, metadataFile)); errors.Is(err, fs.ErrNotExist) {
		return "", usageError{fmt.Errorf("%s is no data directory: there is no %s; name the right one with --data", c.data, metadataFile)}
	}
	data, err := openData(c.data)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, data.close()) }()
	repo := repository.New(data.meta, data.blobs, repository.Config{PageSize: c.pageSize, DirectoryPageSize: c.directoryPageSize})
	defer repo.Close()
	return repo.NewKeyFor(ctx, user)
}
