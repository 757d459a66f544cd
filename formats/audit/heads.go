package audit

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// signatureLine begins a line with a signature in a signed note.
const signatureLine = "— "

// ReadHeads reads signed heads that follow each other, as "labshelf audit head >> FILE" writes
// them. It skips empty lines between them, and does not verify signatures. An error wraps ErrHead
// and names the line, or comes from r.
func ReadHeads(r io.Reader) (heads []string, err error) {
	lines := bufio.NewScanner(r)
	var head strings.Builder
	number, signed := 0, false
	for lines.Scan() {
		number++
		line := strings.TrimSuffix(lines.Text(), "\r")
		if signed && !strings.HasPrefix(line, signatureLine) {
			heads, signed = append(heads, head.String()), false
			head.Reset()
		}
		if head.Len() == 0 && strings.TrimSpace(line) == "" {
			continue
		}
		if head.Len() == 0 && !strings.HasPrefix(line, originPrefix) {
			return nil, fmt.Errorf("%w: line %d is not the first line of a head", ErrHead, number)
		}
		head.WriteString(line + "\n")
		signed = strings.HasPrefix(line, signatureLine)
	}
	switch {
	case lines.Err() != nil:
		return nil, lines.Err()
	case signed:
		heads = append(heads, head.String())
	case head.Len() > 0:
		return nil, fmt.Errorf("%w: the last head, in line %d, has no signature", ErrHead, number)
	case len(heads) == 0:
		return nil, fmt.Errorf("%w: no head found", ErrHead)
	}
	return heads, nil
}
