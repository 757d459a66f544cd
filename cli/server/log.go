package server

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"

	"labshelf/cli/config"
)

// newLog returns the log of a service, the log of its requests, and flush, which the caller calls
// after the last line. On a terminal each line is written immediately.
func newLog(c config.Config, stderr io.Writer) (log, requests zerolog.Logger, flush func()) {
	file, isFile := stderr.(*os.File)
	terminal := isFile && (isatty.IsTerminal(file.Fd()) || isatty.IsCygwinTerminal(file.Fd()))
	blocks := &logBlocks{to: stderr}
	var own, theirs io.Writer = struct{ io.Writer }{blocks}, blocks // a writer without WriteLevel writes each line immediately
	if c.LogFormat == "console" || c.LogFormat == "auto" && terminal {
		own = zerolog.ConsoleWriter{Out: stderr, NoColor: !terminal, TimeFormat: time.DateTime}
		theirs = own
	}
	logTo := func(w io.Writer) zerolog.Logger { return zerolog.New(w).Level(c.LogLevel).With().Timestamp().Logger() }
	return logTo(own), logTo(theirs), blocks.flush
}

// The lines of requests are buffered for at most this time and this many bytes. This saves a system
// call for each request.
const (
	logDelay = 100 * time.Millisecond
	logBlock = 32 << 10
)

// logBlocks writes the lines of a log in blocks, in order. It writes warnings and errors
// immediately, after the lines before them.
type logBlocks struct {
	to io.Writer

	mu       sync.Mutex
	buffered []byte
}

// Write writes the line immediately, after the buffered lines.
func (l *logBlocks) Write(line []byte) (int, error) { return l.WriteLevel(zerolog.NoLevel, line) }

// WriteLevel implements [zerolog.LevelWriter].
func (l *logBlocks) WriteLevel(level zerolog.Level, line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.buffered) == 0 && level <= zerolog.InfoLevel {
		time.AfterFunc(logDelay, l.flush)
	}
	l.buffered = append(l.buffered, line...)
	if level > zerolog.InfoLevel || len(l.buffered) >= logBlock {
		return len(line), l.write()
	}
	return len(line), nil
}

func (l *logBlocks) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.write() // an error cannot be reported anywhere
}

// write writes the buffered lines; mu is locked.
func (l *logBlocks) write() error {
	if len(l.buffered) == 0 {
		return nil
	}
	_, err := l.to.Write(l.buffered)
	l.buffered = l.buffered[:0]
	return err
}
