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

// place is the location on which a command works: the data directory of a stopped service, or a
// running service.
type place struct {
	data   string         // path, or "" if remote is set
	stores datadir.Stores // of the data directory
	remote *client.Client // with the key of a sysadmin
}

// placeHelp describes the flags of a place in the help of commands.
const placeHelp = `With --data DIR the command works on the data directory of a stopped service.
Otherwise it calls the running service, as a sysadmin: the service of "labshelf
login", or the one at --server (LABSHELF_SERVER) with the key from LABSHELF_KEY
or --key-file. A key cannot be an argument, because other users of the machine
can read arguments.`

// addPlaceFlags defines --data, --server and --key-file.
func addPlaceFlags(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.String("data", "", "data directory `DIR`; the service must be stopped")
	connection.AddFlags(flags)
}

// placeOf reads the flags of addPlaceFlags. It ignores the data directory in the environment: that
// one belongs to the service, and commands without --data use a running service.
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
		return place{}, exit.Usage(errors.New("--data is for a stopped service, --server and --key-file are for a running one: give one or the other"))
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
