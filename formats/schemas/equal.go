package schemas

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// typeOf returns the type of a value. Every number is a number; see isInteger for integers.
func typeOf(v any) types {
	switch v.(type) {
	case nil:
		return typeNull
	case bool:
		return typeBoolean
	case json.Number:
		return typeNumber
	case string:
		return typeString
	case []any:
		return typeArray
	}
	return typeObject
}

// isDigits reports whether a number is written without a fraction and an exponent.
func isDigits(n json.Number) bool { return !strings.ContainsAny(string(n), ".eE") }

// rational returns the exact value of a number. Its size is bounded by decode.
func rational(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return new(big.Rat) // cannot happen: decode accepts only numbers of JSON
	}
	return r
}

func isInteger(n json.Number) bool { return isDigits(n) || rational(n).IsInt() }

// equal reports whether two values are equal: numbers by their value, objects regardless of order.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, member := range a {
			other, ok := b[name]
			if !ok || !equal(member, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i, item := range a {
			if !equal(item, b[i]) {
				return false
			}
		}
		return true
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || rational(a).Cmp(rational(b)) == 0)
	}
	return a == b // null, a boolean or a string
}

// firstRepeated returns the index of the first item that equals an earlier one, and the index of
// that one.
func firstRepeated(items []any) (earlier, later int, found bool) {
	known := make(map[string]int, len(items))
	for i, item := range items {
		key := string(appendKey(nil, item))
		if j, ok := known[key]; ok {
			return j, i, true
		}
		known[key] = i
	}
	return 0, 0, false
}

// appendKey appends a string that is equal only for equal values.
func appendKey(key []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		key = append(strconv.AppendInt(append(key, '{'), int64(len(v)), 10), ' ')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			key = appendKey(appendKey(key, name), v[name])
		}
		return key
	case []any:
		key = append(strconv.AppendInt(append(key, '['), int64(len(v)), 10), ' ')
		for _, item := range v {
			key = appendKey(key, item)
		}
		return key
	case string:
		key = append(strconv.AppendInt(append(key, '"'), int64(len(v)), 10), ' ')
		return append(key, v...)
	case json.Number:
		if isDigits(v) && v != "-0" {
			return append(append(key, v...), ' ')
		}
		return append(append(key, rational(v).RatString()...), ' ')
	case bool:
		return strconv.AppendBool(key, v)
	}
	return append(key, 'n')
}
