// Package webhooks sends messages to other services over HTTP, signed by Standard Webhooks 1.0, and
// only to hosts that an operator allows. It keeps no state: which message is due, and what follows
// from an answer, is decided in package repository.
//
// # Where a message may go
//
// [Hosts] is the allow-list. It is compared with the address in the moment of dialling, after the
// name has been resolved, so that a name which resolves to another address than before does not get
// around it. A name in the list allows public addresses alone: an address that is private, of this
// machine, or otherwise special needs an entry of its own, an address or a prefix. Redirects are
// not followed, and a proxy named by the environment is not used: both would lead past the list.
package webhooks
