// Package nodes lets several services work on one shared metadata store. Each service is a node. If
// the store is not shared, the only node owns everything, and this package reads and writes
// nothing.
//
// # Leases
//
// Work that only one node may do at a time runs under a lease. A lease is a row with its holder,
// the stamp at which it was taken, and its end by the clock of the store. The context of the work
// carries the lease, and each commit verifies it (Verified). Once another node has taken the lease,
// every later commit of the former holder is refused. A lease that ends early or is taken by
// mistake therefore costs only time. The stamp is the fencing number: no two leases share one.
//
// # The background
//
// One node does the background work: the holder of BackgroundLease. It renews the lease every two
// seconds. Another node takes the lease as soon as the row is removed, or within ten seconds after
// it has ended. No node compares its own clock with the row. A node measures for how long the row
// has not changed, then tries to take the lease, and the clock of the store decides.
//
// # The log
//
// Each node checks once a second whether the audit log has grown. A node's own commits wake its
// followers immediately; this check wakes them for the commits of other nodes.
package nodes
