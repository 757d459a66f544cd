package metadata

import "iter"

// Engine is what keeps the tables.
type Engine struct {
	Name   string // bolt or postgres
	Shared bool   // other processes may change the same tables at the same time
	Schema uint32 // version of the schema that this program writes
}

// Lease is what one process holds of what the processes that share the tables may have one at a
// time. Who holds it verifies Holder and Fence in each transaction that relies on it: the lease
// goes to another process when it has ended, whether or not its holder still runs.
type Lease struct {
	Name   string // what it is about
	Holder ID     // the instance that has it
	Fence  Stamp  // when it was taken: no other lease has it, and each later one a greater one
	Ends   Stamp  // by the clock of the store, unless it is renewed
	Detail string // what the rules keep with it
}

// Leases is the table of leases, by name. A released lease has no row.
type Leases interface {
	Table[string, Lease]
	LeaseFinders
}

// LeaseFinders finds leases by the beginning of their names.
type LeaseFinders interface {
	// Under yields the leases whose names begin with prefix, ascending by name.
	Under(prefix string) iter.Seq2[Lease, error]
}

// Node is a process that works on the tables. Only those that are shared have rows of them.
type Node struct {
	Instance ID     // made at random when it starts
	Name     string // that its operator gave it
	Version  string // of the program
	Schema   uint32
	Since    Stamp // when it started
	Seen     Stamp // when it last said that it runs
}
