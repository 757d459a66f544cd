package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"labshelf/metadata"
)

// meanings are those of the SQLSTATE of an error, or of its class, the first two characters:
// appendix A of the manual of PostgreSQL.
var meanings = map[string]error{
	"53100": metadata.ErrNoSpace,    // disk_full
	"25006": metadata.ErrUnwritable, // read_only_sql_transaction: a server that repeats another one
	"08":    metadata.ErrUnavailable,
	"53":    metadata.ErrUnavailable, // insufficient_resources
	"55P03": metadata.ErrUnavailable, // lock_not_available
	"57P":   metadata.ErrUnavailable, // the server shuts down, has crashed, or starts
	"57014": metadata.ErrUnavailable, // query_canceled: by a timeout
	"25P":   metadata.ErrUnavailable, // it ended a transaction that did nothing for too long
	"40":    metadata.ErrUnavailable, // serialization failures and deadlocks, with a transaction of somebody else
	"XX001": metadata.ErrRecordDamaged,
	"XX002": metadata.ErrRecordDamaged,
}

// meaning adds to an error of the database what it is to callers. What ends the connection is no
// answer: the server cannot be reached.
func meaning(err error) error {
	if err == nil || errors.Is(err, metadata.ErrTooNew) || errors.Is(err, metadata.ErrRecordDamaged) ||
		errors.Is(err, metadata.ErrClosed) || errors.Is(err, metadata.ErrUnavailable) {
		return err
	}
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		for state := answer.Code; len(state) >= 2; state = state[:len(state)-1] {
			if means, ok := meanings[state]; ok {
				return fmt.Errorf("%w: %w", means, err)
			}
		}
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var network net.Error
	if unconnected(err) || errors.As(err, &network) {
		return fmt.Errorf("%w: %w", metadata.ErrUnavailable, err)
	}
	return err
}

// unconnected tells whether an error is that of a connection which could not be made, or has ended.
func unconnected(err error) bool {
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}
