//go:build !linux

package main

import (
	"context"
	"errors"
)

// power is for Linux alone.
func power(context.Context, *trial) error { return errors.ErrUnsupported }
