package client_test

import (
	"reflect"
	"slices"
	"strings"
)

// fieldsOf returns the JSON names of a struct, sorted.
func fieldsOf(example any) (names []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeOf(example)) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
