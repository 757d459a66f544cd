package dav

import (
	"slices"
	"strings"
)

// condition is one condition of an If header: a lock has a token, or the file has an entity tag. It
// may be negated.
type condition struct {
	not        bool
	token, tag string // exactly one is set
}

// conditions are a list of an If header, all of which must be true.
type conditions struct {
	resource string // address that they apply to; "": the address of the request
	all      []condition
}

// maxConditions limits the conditions of an If header, because each may name another file.
const maxConditions = 200

// parseIf parses an If header (RFC 4918, 10.4). ok is false if the header is malformed or has too
// many conditions.
func parseIf(header string) (lists []conditions, ok bool) {
	rest, resource, count := strings.TrimSpace(header), "", 0
	for rest != "" {
		switch rest[0] {
		case '<':
			address, after, closed := strings.Cut(rest[1:], ">")
			if !closed {
				return nil, false
			}
			resource, rest = address, strings.TrimSpace(after)
			if rest == "" || rest[0] != '(' {
				return nil, false
			}
		case '(':
			list, after, ok := parseList(rest[1:])
			if count += len(list); !ok || count > maxConditions {
				return nil, false
			}
			lists = append(lists, conditions{resource, list})
			rest = strings.TrimSpace(after)
		default:
			return nil, false
		}
	}
	return lists, len(lists) > 0
}

// parseList parses the conditions up to the closing parenthesis.
func parseList(text string) (list []condition, rest string, ok bool) {
	for {
		text = strings.TrimLeft(text, " \t")
		var c condition
		if text, c.not = strings.CutPrefix(text, "Not"); c.not {
			text = strings.TrimLeft(text, " \t")
		}
		if text == "" {
			return nil, "", false
		}
		var closed bool
		switch text[0] {
		case ')':
			return list, text[1:], len(list) > 0 && !c.not
		case '<':
			c.token, text, closed = strings.Cut(text[1:], ">")
		case '[':
			c.tag, text, closed = strings.Cut(text[1:], "]")
		}
		if !closed {
			return nil, "", false
		}
		list = append(list, c)
	}
}

// tokensOf returns all tokens of an If header, which the request submits.
func tokensOf(lists []conditions) (tokens []string) {
	for _, list := range lists {
		for _, c := range list.all {
			if c.token != "" {
				tokens = append(tokens, c.token)
			}
		}
	}
	return tokens
}

// hold reports whether all conditions of a list are true for these locks and this entity tag.
func (c conditions) hold(of []lock, tag string) bool {
	for _, one := range c.all {
		is := one.tag != "" && one.tag == tag
		if one.token != "" {
			is = slices.ContainsFunc(of, func(l lock) bool { return l.token == one.token })
		}
		if is == one.not {
			return false
		}
	}
	return true
}
