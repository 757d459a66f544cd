package admission

import "sync"

// Memory is a number of bytes that callers share. It is safe for concurrent use.
type Memory struct {
	mu     sync.Mutex
	free   int64
	shares map[string]int64 // bytes that callers and groups hold
}

// NewMemory returns memory that is completely free.
func NewMemory(bytes int64) *Memory {
	return &Memory{free: bytes, shares: map[string]int64{}}
}

// Held is the memory of one request. Its methods are for one goroutine at a time.
type Held struct {
	memory *Memory
	caller Caller
	bytes  int64
}

// Hold returns the memory of a new request of a caller: zero bytes.
func (m *Memory) Hold(c Caller) Held { return Held{memory: m, caller: c} }

// Set changes the number of bytes that the request holds. If that exceeds the caller's share, it
// returns a *Refusal and changes nothing.
func (h *Held) Set(bytes int64) error {
	m := h.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	more := bytes - h.bytes
	for _, name := range h.caller.names() {
		if more > 0 && exceedsShare(m.shares[name]+more, m.free) {
			return refuse("memory", soonest)
		}
	}
	h.bytes = bytes
	m.free -= more
	for _, name := range h.caller.names() {
		if m.shares[name] += more; m.shares[name] == 0 {
			delete(m.shares, name)
		}
	}
	return nil
}

// Free returns the number of free bytes.
func (m *Memory) Free() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.free
}
