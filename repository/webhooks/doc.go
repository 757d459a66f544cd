// Package webhooks sends messages to other services over HTTP, signed according to Standard
// Webhooks 1.0, and only to hosts that an operator allows. It keeps no state: package repository
// decides which message is due, and what a response means.
//
// # Allowed hosts
//
// [Hosts] is the allow-list. The address is checked at the time of dialling, after the name has
// been resolved, so that a name that later resolves to another address cannot bypass the list. A
// name in the list allows only public addresses. A private, local or otherwise special address
// requires its own entry, as an address or a prefix. Redirects are not followed, and a proxy named
// by the environment is not used, since both could bypass the list.
package webhooks
