//go:build !mutant_recheck

package repository

// stillUnused makes sure, in the transaction that is to forget a blob, that no resource has come to refer to it.
func stillUnused(tx *Tx, b Blob) error { return unused(tx, b.Digest) }
