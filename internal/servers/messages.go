package servers

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Side is the sender of a message.
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
	Connection int  // number of the connection of the proxy, from 0
	Number     int  // number of the message of this side in this connection, from 0
	From       Side //

	// Type is the first byte of a message. Clients send, among others, 'Q' for a query, 'P' to
	// prepare a statement, 'E' to execute one, and 'S' to end a group of messages. Servers send 'C'
	// after a command and 'Z' when ready. Type is 0 before the session begins (startup, a request
	// for TLS or to cancel). A single 'N' or 'S' answers a request for TLS.
	Type byte
	Text []byte // the whole message, with type and length
}

// Body returns the message without type and length.
func (m Message) Body() []byte {
	switch {
	case m.Type == 0:
		return m.Text[4:]
	case len(m.Text) == 1:
		return nil
	}
	return m.Text[5:]
}

// Request codes before a session; other numbers are protocol versions.
const (
	askCancel = 80877102
	askTLS    = 80877103
	askGSS    = 80877104
)

// messageLimit is the maximum length of a message. The server accepts no longer messages.
const messageLimit = 1 << 30

// messages reads the messages of one side of a connection.
type messages struct {
	from   *bufio.Reader
	begun  bool        // whether the session has begun; from then on, each message has a type byte
	single <-chan bool // for a server: whether its next response is one byte
	asked  chan<- bool // for a client: notifies the other side
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

// clientBegins reads a message of a client before the session.
func (r *messages) clientBegins() (Message, error) {
	text, err := r.sized(nil)
	if err != nil {
		return Message{}, err
	}
	if len(text) < 8 {
		return Message{}, fmt.Errorf("a connection begins with a message of %d bytes", len(text))
	}
	code := binary.BigEndian.Uint32(text[4:])
	single := code == askTLS || code == askGSS
	if code != askCancel {
		r.asked <- single
	}
	r.begun = !single
	return Message{Text: text}, nil
}

// serverBegins reads the response of a server before the session.
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

// sized reads a length, which includes itself, and the rest of the message, after a given
// beginning.
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
