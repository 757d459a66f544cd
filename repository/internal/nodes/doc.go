// Package nodes lets several services work on one metadata store: each is a node. Where the store
// is not shared there is one node, which holds everything, and nothing here reads or writes.
//
// # Leases
//
// What one node may do at a time it does under a lease: a row with its holder, the stamp of its
// taking, and when it ends by the clock of the store. A lease travels in the context of what is
// done under it, and each commit verifies it (Verified): once another node has taken it, the
// commits of the former holder are refused, however late they come. So a lease may end early or be
// taken by mistake, and nothing is lost but time. The stamp is the fencing number: no two leases
// have the same.
//
// # The background
//
// One node works in the background: the one with the lease BackgroundLease. It renews it every two
// seconds; another node takes it as soon as the row is gone, or when it has ended, within ten
// seconds. No node compares its own clock with the row: it sees for how long the row has not
// changed, asks then, and the clock of the store decides.
//
// # The log
//
// Each node looks once a second whether the audit log has grown: what its own commits wake by
// themselves, those of other nodes wake then.
package nodes
