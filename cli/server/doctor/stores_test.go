package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"labshelf/blobs/s3"
	"labshelf/cli/datadir"
	"labshelf/internal/servers"
	"labshelf/postgres"
)

// TestDatabase examines a suitable server, and a missing one.
func TestDatabase(t *testing.T) {
	t.Parallel()
	for address, level := range map[string]string{
		servers.StartPostgres(t).Database(t):               levelOK,
		"postgres://labshelf:hunter2@127.0.0.1:1/labshelf": levelProblem,
	} {
		found := database(t.Context())(place{at: datadir.Stores{Metadata: address}})
		if len(found) == 0 || found[0].Level != level {
			t.Errorf("%+v, want %s", found, level)
		}
		for _, f := range found {
			if level == levelOK && f.Level == levelProblem {
				t.Errorf("%+v", f)
			}
		}
	}
}

// TestObjects examines a suitable store, and one with wrong keys. The findings do not show the
// secret.
func TestObjects(t *testing.T) {
	t.Parallel()
	store := servers.StartS3(t)
	at := datadir.Stores{
		Blobs: "s3://" + store.Bucket(t) + "/data", S3: s3.Options{Endpoint: store.Endpoint(), Region: store.Region, KeyID: store.AccessKey, Secret: store.SecretKey},
	}
	found := objects(t.Context())(place{at: at})
	if len(found) != 1 || found[0].Level != levelOK || !strings.Contains(found[0].Found, "multipart") || !strings.Contains(found[0].Found, "delete") {
		t.Errorf("%+v", found)
	}
	at.S3.Secret = "hunter2"
	found = objects(t.Context())(place{at: at})
	if len(found) == 0 || found[len(found)-1].Level != levelProblem || strings.Contains(fmt.Sprint(found), "hunter2") {
		t.Errorf("with wrong keys: %+v", found)
	}
}

// TestDatabaseRules: each wrong setting gives exactly one finding, with its level.
func TestDatabaseRules(t *testing.T) {
	t.Parallel()
	sound := postgres.Condition{
		Server: "15.3", Number: 150003, RoundTrip: time.Millisecond, Encrypted: true, FSync: true, Commit: "on", Checksums: true, Connections: 100, MayMakeTables: true,
	}
	for name, tc := range map[string]struct {
		change func(*postgres.Condition)
		want   []string
	}{
		"sound":                 {func(*postgres.Condition) {}, nil},
		"old":                   {func(c *postgres.Condition) { c.Number = 130010 }, []string{levelProblem}},
		"standby":               {func(c *postgres.Condition) { c.Standby = true }, []string{levelProblem}},
		"no fsync":              {func(c *postgres.Condition) { c.FSync = false }, []string{levelProblem}},
		"no synchronous commit": {func(c *postgres.Condition) { c.Commit = "off" }, []string{levelProblem}},
		"not for standbys":      {func(c *postgres.Condition) { c.Commit, c.Standbys = "local", "two" }, []string{levelWarning}},
		"no checksums":          {func(c *postgres.Condition) { c.Checksums = false }, []string{levelWarning}},
		"no tables":             {func(c *postgres.Condition) { c.MayMakeTables = false }, []string{levelProblem}},
		"in the clear":          {func(c *postgres.Condition) { c.Encrypted = false }, []string{levelWarning}},
		"in the clear, here":    {func(c *postgres.Condition) { c.Encrypted, c.Local = false, true }, nil},
		"few connections":       {func(c *postgres.Condition) { c.Connections = 10 }, []string{levelWarning}},
		"far away":              {func(c *postgres.Condition) { c.RoundTrip = time.Second }, []string{levelWarning}},
	} {
		c := sound
		tc.change(&c)
		var got []string
		for _, rule := range databaseRules {
			if rule.broken(c) {
				got = append(got, rule.finding(c).Level)
			}
		}
		if len(got) != len(tc.want) || len(got) == 1 && got[0] != tc.want[0] {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	for ahead, level := range map[time.Duration]string{0: levelOK, 2 * time.Second: levelWarning, -2 * time.Second: levelWarning} {
		if f := databaseClock(postgres.Condition{Ahead: ahead}); f.Level != level {
			t.Errorf("%v ahead: %+v", ahead, f)
		}
	}
}
