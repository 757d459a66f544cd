package main

import (
	"fmt"
	"slices"
	"strings"
)

// list is what is banned, and what is excused.
type list struct {
	starts     map[string][]phrase // by first word
	exceptions []*exception
}

// phrase is one form of an entry: its words, and where it counts.
type phrase struct {
	words       []string
	form        string // the first one of the entry, by which exceptions name it
	instead     string
	names, text bool
}

// exception allows an entry in a file or folder.
type exception struct {
	form, path string
	used       bool
}

// parseList returns the list that text holds. An error begins with the number of the line.
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
			return list{}, fmt.Errorf("%d: no line before bans %s", i+1, part[0])
		case len(part) == 3:
			l.exceptions = append(l.exceptions, &exception{form: part[0], path: part[1]})
		default:
			known[l.ban(part[0], part[1])] = true
		}
	}
	return l, nil
}

// ban adds an entry and returns its first form.
func (l *list) ban(forms, instead string) string {
	forms, onlyNames := strings.CutPrefix(forms, "names:")
	forms, onlyText := strings.CutPrefix(forms, "text:")
	all := strings.Split(forms, ",")
	first := strings.TrimSpace(all[0])
	for _, form := range all {
		words := strings.Fields(form)
		l.starts[words[0]] = append(l.starts[words[0]], phrase{words, first, instead, !onlyText, !onlyNames})
	}
	return first
}

// excused reports whether an exception allows the form in a file.
func (l *list) excused(form, file string) bool {
	for _, e := range l.exceptions {
		if e.form == form && (e.path == file || strings.HasPrefix(file, e.path+"/")) {
			e.used = true
			return true
		}
	}
	return false
}
