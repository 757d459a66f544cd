package admission

// Accounts returns the number of remembered callers and groups.
func (q *Queue) Accounts() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.accounts)
}
