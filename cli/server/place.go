package server

import (
	"errors"

	"github.com/spf13/pflag"

	"labshelf/cli/config"
	"labshelf/cli/connection"
	"labshelf/cli/datadir"
	"labshelf/cli/exit"
	"labshelf/cli/process"
	"labshelf/client"
)

// place is where a command works: in a data directory whose service is stopped, or on a service,
// through its interface.
type place struct {
	data   string         // path, or "" where remote is set
	stores datadir.Stores // of it
	remote *client.Client // with the key of a sysadmin
}

// placeHelp is what commands with a place say about it.
const placeHelp = `With --data DIR it works on a data directory whose service is stopped. Without,
it asks the running service, as a sysadmin: the one that "labshelf login" has
a key for, or that at --server (LABSHELF_SERVER) with the key from LABSHELF_KEY
or --key-file. A key is never an argument, since other users of the machine can
read those.`

// addPlaceFlags defines --data, --server and --key-file.
func addPlaceFlags(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.String("data", "", "`DIR`, the data directory; the service must be stopped")
	connection.AddFlags(flags)
}

// placeOf reads the flags of addPlaceFlags. Which data directory the environment names does not
// count: it is that of the service, and commands without --data are for one that is running.
func placeOf(flags *pflag.FlagSet, p process.Process) (place, error) {
	data, err := flags.GetString("data")
	if err != nil {
		return place{}, err
	}
	if !flags.Changed("data") {
		remote, err := connection.Open(flags, p, false)
		return place{remote: remote}, err
	}
	if flags.Changed(connection.ServerFlag) || flags.Changed(connection.KeyFileFlag) {
		return place{}, exit.Usage(errors.New("--data is for a service that is stopped, --server and --key-file for one that is running: give one or the other"))
	}
	if data == "" {
		return place{}, exit.Usage(errors.New("--data must name a directory"))
	}
	if _, _, err := config.Service(p.Environ); err != nil {
		return place{}, exit.Usage(err)
	}
	at, err := datadir.ConfiguredIn(data, p.Environ)
	return place{data: data, stores: at}, err
}
