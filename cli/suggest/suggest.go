// Package suggest finds the known name that an unknown name probably stands for.
package suggest

import "fmt"

// DidYouMean returns the end of an error message about an unknown name: prefix and the most similar
// known name, or "" if no known name is similar.
func DidYouMean(prefix, name string, known []string) string {
	best, least := "", 1+max(1, len(name)/3)
	for _, candidate := range known {
		if d := distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s%s?", prefix, best)
}

// distance is the number of edits that turn a into b: insert, delete or replace a byte, or swap two
// neighbors.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row
		row = make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(last[j]+change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before = last
	}
	return row[len(b)]
}
