package admission

// Accounts returns how many callers and groups are remembered.
func (q *Queue) Accounts() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.accounts)
}
