package metadata

import "iter"

// Engine describes the engine of a store.
type Engine struct {
	Name   string // bolt or postgres
	Shared bool   // other processes may change the same tables concurrently
	Schema uint32 // schema version that this program writes
}

// Lease gives one process an exclusive right among the processes that share the tables. The holder
// must verify Holder and Fence in each transaction that relies on the lease. An expired lease goes
// to another process, even if its holder still runs.
type Lease struct {
	Name   string // name of the protected right
	Holder ID     // the instance that holds it
	Fence  Stamp  // when it was acquired; unique, and greater for each later lease
	Ends   Stamp  // expiry by the clock of the store, unless it is renewed
	Detail string // additional data for the rules of the repository
}

// Leases is the table of leases, by name. A released lease has no row.
type Leases interface {
	Table[string, Lease]
	LeaseFinders
}

// LeaseFinders finds leases by the beginning of their names.
type LeaseFinders interface {
	// Under yields the leases whose names begin with a prefix, ascending by name.
	Under(prefix string) iter.Seq2[Lease, error]
}

// Node is a process that uses the tables. Only shared tables have rows of nodes.
type Node struct {
	Instance ID     // random, created at the start of the process
	Name     string // configured name
	Version  string // of the program
	Schema   uint32
	Since    Stamp // when it started
	Seen     Stamp // last time when it reported that it runs
}
