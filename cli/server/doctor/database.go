package doctor

import (
	"context"
	"time"

	"labshelf/cli/display"
	"labshelf/postgres"
)

const (
	// leastServer is the oldest supported version of PostgreSQL.
	leastServer = 140000
	// clockDifference is how far the server's clock may differ without a warning.
	clockDifference = time.Second
	// slowRoundTrip is the longest round trip without a warning. A page takes one or two round
	// trips, a commit three.
	slowRoundTrip = 5 * time.Millisecond
	// fewConnections is the number of connections below which two nodes and their operators run
	// short.
	fewConnections = 40
	// examineLimit bounds the time for all questions to a server.
	examineLimit = time.Minute
)

// database connects to the PostgreSQL of a service, and examines its settings and its clock.
func database(ctx context.Context) func(place) []Finding {
	return func(w place) []Finding {
		ctx, cancel := context.WithTimeout(ctx, examineLimit)
		defer cancel()
		c, err := postgres.Examine(ctx, w.at.Metadata)
		if err != nil {
			return []Finding{problem("check that it runs, that this machine may connect (pg_hba.conf, listen_addresses), and the name, the user and the "+
				"password in metadata or PGPASSWORD", "the database does not answer: %v", err)}
		}
		found := []Finding{fine("PostgreSQL %s answers in %s", c.Server, display.Duration(c.RoundTrip))}
		if c.Empty {
			found = append(found, fine("the database is empty; the service creates its tables when it starts"))
		}
		for _, e := range databaseRules {
			if e.broken(c) {
				found = append(found, e.finding(c))
			}
		}
		return append(found, databaseClock(c))
	}
}

// databaseRule is one rule about the state of a database.
type databaseRule struct {
	broken  func(postgres.Condition) bool
	finding func(postgres.Condition) Finding
}

var databaseRules = []databaseRule{
	{func(c postgres.Condition) bool { return c.Number < leastServer }, func(c postgres.Condition) Finding {
		return problem("use PostgreSQL 14 or later", "PostgreSQL %s is too old", c.Server)
	}},
	{func(c postgres.Condition) bool { return c.Standby }, func(postgres.Condition) Finding {
		return problem("name the primary in metadata, or several with target_session_attrs=read-write", "this server is a standby and accepts no changes")
	}},
	{func(c postgres.Condition) bool { return !c.FSync }, func(postgres.Condition) Finding {
		return problem("set fsync = on and full_page_writes = on", "the server acknowledges changes that are not on stable storage; labshelf does not run on it")
	}},
	{func(c postgres.Condition) bool { return c.Commit == "off" }, func(postgres.Condition) Finding {
		return problem("set synchronous_commit = on", "the server acknowledges changes before they are on stable storage; labshelf does not run on it")
	}},
	{func(c postgres.Condition) bool { return c.Standbys != "" && c.Commit == "local" }, func(c postgres.Condition) Finding {
		return warning("set synchronous_commit = on", "the server does not wait for its standbys (%s): a failover may lose acknowledged changes", c.Standbys)
	}},
	{func(c postgres.Condition) bool { return !c.Checksums }, func(postgres.Condition) Finding {
		return warning("enable checksums while the server is stopped, with pg_checksums --enable", "the pages of the server have no checksums; records have their own checksums")
	}},
	{func(c postgres.Condition) bool { return !c.MayMakeTables }, func(postgres.Condition) Finding {
		return problem("ALTER DATABASE ... OWNER TO the user in metadata", "the user cannot create tables in the database")
	}},
	{func(c postgres.Condition) bool { return !c.Encrypted && !c.Local }, func(postgres.Condition) Finding {
		return warning("add sslmode=verify-full to metadata, or sslmode=require", "the connection is not encrypted: others on the network can read records")
	}},
	{func(c postgres.Condition) bool { return c.Connections < fewConnections }, func(c postgres.Condition) Finding {
		return warning("raise max_connections to 100", "the server allows %d connections; each node uses up to 20", c.Connections)
	}},
	{func(c postgres.Condition) bool { return c.RoundTrip > slowRoundTrip }, func(c postgres.Condition) Finding {
		return warning("bring nodes and database closer together", "each round trip to the server takes %s", display.Duration(c.RoundTrip))
	}},
}

// databaseClock compares the server's clock, from which the time of a change is taken, with the
// clock of this machine.
func databaseClock(c postgres.Condition) Finding {
	switch {
	case c.Ahead > clockDifference:
		return warning("set both clocks with NTP; the time of a change is taken from the server's clock", "the clock of the server is %s ahead of this machine's", display.Duration(c.Ahead))
	case c.Ahead < -clockDifference:
		return warning("set both clocks with NTP; the time of a change is taken from the server's clock", "the clock of the server is %s behind this machine's", display.Duration(-c.Ahead))
	}
	return fine("the clock of the server differs from this machine's by less than a second")
}
