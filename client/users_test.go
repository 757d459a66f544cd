package client_test

import (
	"testing"

	"labshelf/client"
)

// checkDependents creates a key with the key of by, checks that the new key depends on it, and
// ends it with Replace.
func checkDependents(t *testing.T, c, by *client.Client, key client.CreatedKey) {
	t.Helper()
	me := must[client.User](t)(by.Users.Me(t.Context()))
	made := must[client.CreatedKey](t)(by.Keys.Create(t.Context(), client.Me, client.NewKey{Label: "watch"}))
	if !made.Expires.Equal(key.Expires.Time) || made.MadeWith != key.ID {
		t.Errorf("a dependent key is %+v", made)
	}
	ending := must[client.KeyDependents](t)(c.Keys.Dependents(t.Context(), me.ID, key.ID))
	if ending.Count != 1 || len(ending.Data) != 1 || ending.Data[0].Kind != "key" || ending.Data[0].ID != made.ID || ending.Data[0].MadeWith != key.ID {
		t.Errorf("the dependents of a key are %+v", ending)
	}
	check(t, by.Keys.Replace(t.Context(), client.Me, made.ID))
}
