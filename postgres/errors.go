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

// meanings maps an SQLSTATE, or its class (the first two characters), to an error of package
// metadata; see appendix A of the PostgreSQL manual.
var meanings = map[string]error{
	"53100": metadata.ErrNoSpace,    // disk_full
	"25006": metadata.ErrUnwritable, // read_only_sql_transaction: the server is a standby
	"08":    metadata.ErrUnavailable,
	"53":    metadata.ErrUnavailable, // insufficient_resources
	"55P03": metadata.ErrUnavailable, // lock_not_available
	"57P":   metadata.ErrUnavailable, // the server shuts down, has crashed, or starts
	"57014": metadata.ErrUnavailable, // query_canceled, by a timeout
	"25P":   metadata.ErrUnavailable, // the server ended an idle transaction
	"40":    metadata.ErrUnavailable, // serialization failures and deadlocks with other transactions
	"XX001": metadata.ErrRecordDamaged,
	"XX002": metadata.ErrRecordDamaged,
}

// meaning adds the error of package metadata to an error of the database. A lost connection means
// that the server is unavailable.
func meaning(err error) error {
	if err == nil || errors.Is(err, metadata.ErrTooNew) || errors.Is(err, metadata.ErrTooOld) || errors.Is(err, metadata.ErrRecordDamaged) ||
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

// unconnected reports whether a connection could not be established, or has ended.
func unconnected(err error) bool {
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}
