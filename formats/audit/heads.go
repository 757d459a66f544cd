package audit

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// signatureLine begins a line of a signed note that holds a signature.
const signatureLine = "— "

// ReadHeads reads signed heads that were noted down one after the other, as "labshelf audit head >>
// FILE" does. Empty lines between them are passed over. The signatures are not verified yet. An
// error wraps ErrHead and names the line, or is that of r.
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
		return nil, fmt.Errorf("%w: the last one ends without a signature, in line %d", ErrHead, number)
	case len(heads) == 0:
		return nil, fmt.Errorf("%w: there is none", ErrHead)
	}
	return heads, nil
}
