package servers

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Side is who has sent a message.
type Side uint8

// The sides of a connection.
const (
	Client Side = iota
	Server
)

func (s Side) String() string {
	if s == Client {
		return "client"
	}
	return "server"
}

// Message is one message of the protocol of PostgreSQL, version 3.
type Message struct {
	Connection int  // of the proxy, from 0
	Number     int  // of this side in this connection, from 0
	From       Side //

	// Type is the letter that a message begins with, such as 'Q' for a query, 'P' for a statement
	// to prepare, 'E' to run one and 'S' for the end of what belongs together, of a client; 'C' for
	// a command that is done and 'Z' for a server that is ready, of a server. It is 0 for what a
	// client says before it has a session (startup, a request for TLS or to cancel), and 'N' or 'S'
	// alone answers a request for TLS.
	Type byte
	Text []byte // all of it, with the letter and the length
}

// Body returns what follows on letter and length.
func (m Message) Body() []byte {
	switch {
	case m.Type == 0:
		return m.Text[4:]
	case len(m.Text) == 1:
		return nil
	}
	return m.Text[5:]
}

// What a client asks for before it has a session; another number is the version of the protocol.
const (
	askCancel = 80877102
	askTLS    = 80877103
	askGSS    = 80877104
)

// messageLimit is how long a message may be: the server takes none beyond this.
const messageLimit = 1 << 30

// messages reads the messages of one side of a connection.
type messages struct {
	from   *bufio.Reader
	begun  bool        // the session; from then on each message has a letter
	single <-chan bool // of a server: whether its next answer is one letter
	asked  chan<- bool // of a client: tells the other side so
}

// next returns the next message.
func (r *messages) next() (Message, error) {
	if r.begun {
		return r.lettered()
	}
	if r.single != nil {
		return r.serverBegins()
	}
	return r.clientBegins()
}

// clientBegins reads what a client says before it has a session.
func (r *messages) clientBegins() (Message, error) {
	text, err := r.sized(nil)
	if err != nil {
		return Message{}, err
	}
	if len(text) < 8 {
		return Message{}, fmt.Errorf("a message of %d bytes begins a connection", len(text))
	}
	code := binary.BigEndian.Uint32(text[4:])
	single := code == askTLS || code == askGSS
	if code != askCancel {
		r.asked <- single
	}
	r.begun = !single
	return Message{Text: text}, nil
}

// serverBegins reads the answer of a server to what a client has said before it has a session.
func (r *messages) serverBegins() (Message, error) {
	if _, err := r.from.Peek(1); err != nil {
		return Message{}, err
	}
	if !<-r.single {
		r.begun = true
		return r.lettered()
	}
	letter, err := r.from.ReadByte()
	return Message{Type: letter, Text: []byte{letter}}, err
}

func (r *messages) lettered() (Message, error) {
	letter, err := r.from.ReadByte()
	if err != nil {
		return Message{}, err
	}
	text, err := r.sized([]byte{letter})
	return Message{Type: letter, Text: text}, err
}

// sized reads a length, which counts itself, and what belongs to it, behind a beginning.
func (r *messages) sized(text []byte) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r.from, length[:]); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(length[:]))
	if n < 4 || n > messageLimit {
		return nil, fmt.Errorf("a message of %d bytes", n)
	}
	text = append(text, length[:]...)
	head := len(text)
	text = append(text, make([]byte, n-4)...)
	_, err := io.ReadFull(r.from, text[head:])
	return text, err
}
