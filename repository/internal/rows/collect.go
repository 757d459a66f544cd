package rows

import "iter"

// Collect reads the items of a sequence. most limits their number. It stops at the first error.
func Collect[T any](seq iter.Seq2[T, error], most int) ([]T, error) {
	var items []T
	if most <= 0 {
		return nil, nil
	}
	for item, err := range seq {
		if err != nil {
			return nil, err
		}
		if items = append(items, item); len(items) == most {
			break
		}
	}
	return items, nil
}
