package postgres

import (
	"fmt"
	"testing"

	"labshelf/internal/servers"
)

// TestCostOfRanges tests that the cost of a range with few keys depends only on its
// content, not on the keys before and after it in its bucket.
func TestCostOfRanges(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), servers.StartPostgres(t).Database(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	fill := `insert into key_values select 1, convert_to(to_char(n, 'FM000000'), 'UTF8'), '' from generate_series(1, 20000) n;
		insert into long_key_values select 1, sha256(key), substr(key, 1, 1000), key, ''
			from (select convert_to(to_char(n, 'FM000000') || repeat('x', 2000), 'UTF8') as key from generate_series(1, 5000) n) k;
		analyze key_values; analyze long_key_values`
	if _, err := s.pool.Exec(t.Context(), fill); err != nil {
		t.Fatal(err)
	}
	for name, sql := range map[string]string{
		"ascending": ascendingSQL, "descending": descendingSQL, "long, ascending": longAscendingSQL, "long, descending": longDescendingSQL,
	} {
		for _, within := range [][2]string{{"002500", "002500"}, {"002500", "002500!"}, {"002500", "002503"}, {"", "000003"}} {
			t.Run(fmt.Sprint(name, within), func(t *testing.T) {
				var plan []struct {
					Plan struct {
						Hit  int `json:"Shared Hit Blocks"`
						Read int `json:"Shared Read Blocks"`
					}
				}
				err := s.pool.QueryRow(t.Context(), "explain (analyze, buffers, format json) "+sql,
					[]int16{1}, [][]byte{[]byte(within[0])}, [][]byte{[]byte(within[1])}, []int32{100}, []int16{noBucket}).Scan(&plan)
				if err != nil {
					t.Fatal(err)
				}
				if read := plan[0].Plan.Hit + plan[0].Plan.Read; read > 25 {
					t.Errorf("%d pages are read", read)
				}
			})
		}
	}
}
