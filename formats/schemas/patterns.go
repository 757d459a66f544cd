package schemas

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

const (
	// maxPattern bounds the instructions of a regular expression. Each character of a text takes at
	// most one step for each instruction.
	maxPattern = 2000

	// maxPatterns bounds the instructions of all regular expressions of a schema, which stay in
	// memory.
	maxPatterns = 20_000
)

// pattern is a regular expression with its cost.
type pattern struct {
	*regexp.Regexp
	size int // approximate number of instructions
}

// unsupported explains errors of Go's regular expressions for people who know the expressions of
// ECMAScript.
var unsupported = map[syntax.ErrorCode]string{
	syntax.ErrInvalidPerlOp:         "lookahead and lookbehind, such as (?= (?! (?<= (?<!, are not supported",
	syntax.ErrInvalidNamedCapture:   "a group name must have the form (?<name>; lookbehind, such as (?<= (?<!, is not supported",
	syntax.ErrMissingRepeatArgument: "the repetition has no operand",
	syntax.ErrInvalidEscape: `this escape is not supported; neither are the backreferences \1 and \k, nor \c;
write \x{00B5} for \u00B5`,
	syntax.ErrInvalidRepeatSize: "a repetition is at most {1000}, including nested ones",
}

// patternBudget compiles the regular expressions of one schema, each once. It uses Go's regular
// expressions, which match in linear time.
type patternBudget struct {
	left     int // remaining instructions
	compiled map[string]*pattern
}

func newPatternBudget() patternBudget { return patternBudget{maxPatterns, map[string]*pattern{}} }

func (b *patternBudget) compile(text string) (*pattern, error) {
	if p := b.compiled[text]; p != nil {
		return p, nil
	}
	size, err := checkPattern(text)
	if err != nil {
		return nil, err
	}
	if b.left -= size; b.left < 0 {
		return nil, fmt.Errorf("the regular expressions of the schema need more than %d instructions in total", maxPatterns)
	}
	e, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	b.compiled[text] = &pattern{e, size}
	return b.compiled[text], nil
}

// checkPattern returns the size of a regular expression without compiling it, which would take
// memory.
func checkPattern(text string) (size int, err error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	var failed *syntax.Error
	if errors.As(err, &failed) {
		if explained := unsupported[failed.Code]; explained != "" {
			return 0, fmt.Errorf("at %q: %s", failed.Expr, explained)
		}
		return 0, fmt.Errorf("at %q: %s", failed.Expr, failed.Code)
	}
	if err != nil {
		return 0, err
	}
	if size = patternSize(parsed); size > maxPattern {
		return 0, fmt.Errorf("the regular expression needs about %d instructions; at most %d are allowed", size, maxPattern)
	}
	return size, nil
}

// patternSize returns about the number of instructions that e compiles to.
func patternSize(e *syntax.Regexp) int {
	size := 1
	for _, sub := range e.Sub {
		size += patternSize(sub)
	}
	switch e.Op {
	case syntax.OpLiteral:
		return len(e.Rune)
	case syntax.OpCharClass:
		return 1 + len(e.Rune)/16
	case syntax.OpRepeat:
		return (size - 1) * max(e.Min+1, e.Max)
	}
	return size
}
