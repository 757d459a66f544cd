package main

import (
	"fmt"
	"slices"
	"strings"
)

// list holds the banned words and the exceptions.
type list struct {
	starts     map[string][]phrase // by first word
	exceptions []*exception
}

// phrase is one form of an entry, with its words and the places where it is banned.
type phrase struct {
	words       []string
	form        string // the first form of the entry, which exceptions use
	instead     string
	names, text bool
	begins      bool // only at the beginning of a sentence
}

// exception allows an entry in a file or folder.
type exception struct {
	form, path string
	ceiling    int // maximum number of uses, 0: no limit
	used       int
}

// exceptionOf returns the exception of a line. A reason that begins with "at most N:" has a
// ceiling.
func exceptionOf(form, path, reason string) *exception {
	e := &exception{form: form, path: path}
	if n, err := fmt.Sscanf(reason, "at most %d:", &e.ceiling); n != 1 || err != nil {
		e.ceiling = 0
	}
	return e
}

// finding returns the problem of an exception after all files, or "".
func (e *exception) finding() string {
	switch {
	case e.used == 0:
		return fmt.Sprintf("exception %s|%s has no effect: remove it", e.form, e.path)
	case e.ceiling == 0 || e.used == e.ceiling:
		return ""
	case e.used < e.ceiling:
		return fmt.Sprintf("exception %s|%s: the count is now %d; lower its limit to %d", e.form, e.path, e.used, e.used)
	}
	return fmt.Sprintf("%s: %s appears %d times, more than the allowed %d", e.path, e.form, e.used, e.ceiling)
}

// parseList parses the list. An error begins with the number of the line.
func parseList(text string) (list, error) {
	l := list{starts: make(map[string][]phrase)}
	known := make(map[string]bool)
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		part := strings.Split(line, "|")
		switch {
		case slices.Contains(part, ""), len(part) < 2, len(part) > 3:
			return list{}, fmt.Errorf("%d: want forms|instead or form|path|reason", i+1)
		case len(part) == 3 && !known[part[0]]:
			return list{}, fmt.Errorf("%d: no earlier line bans %s", i+1, part[0])
		case len(part) == 3:
			l.exceptions = append(l.exceptions, exceptionOf(part[0], part[1], part[2]))
		default:
			known[l.ban(part[0], part[1])] = true
		}
	}
	return l, nil
}

// ban adds an entry and returns its first form.
func (l *list) ban(forms, instead string) string {
	forms, onlyNames := strings.CutPrefix(forms, "names:")
	forms, begins := strings.CutPrefix(forms, "start:")
	forms, onlyText := strings.CutPrefix(forms, "text:")
	onlyText = onlyText || begins
	all := strings.Split(forms, ",")
	first := strings.TrimSpace(all[0])
	for _, form := range all {
		words := strings.Fields(form)
		l.starts[words[0]] = append(l.starts[words[0]], phrase{words, first, instead, !onlyText, !onlyNames, begins})
	}
	return first
}

// excused reports whether an exception allows the form in a file.
func (l *list) excused(form, file string) bool {
	for _, e := range l.exceptions {
		if e.form == form && (e.path == file || strings.HasPrefix(file, e.path+"/")) {
			e.used++
			return true
		}
	}
	return false
}
