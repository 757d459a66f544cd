package tables

import "testing"

// TestReadTransactionsAllocateLittle tests that read transactions allocate nothing for the
// functions of writers and remote engines. Every request has a read transaction.
func TestReadTransactionsAllocateLittle(t *testing.T) {
	const most = 3 // 6 with a method value for each function of the contract
	if n := testing.AllocsPerRun(100, func() { Read(nil, 1).Contract().Prefetch(nil) }); n > most {
		t.Errorf("%v allocations, want at most %d", n, most)
	}
}
