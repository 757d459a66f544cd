package schemas_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"labshelf/formats/schemas"
	"labshelf/internal/testhome"
)

func TestMain(m *testing.M) { testhome.Main(m) }

// pair is a schema and a value.
type pair struct {
	Schema any `json:"schema"`
	Value  any `json:"value"`
}

// TestAgainstOthers compares the verdicts on random pairs with jsonschema of PyPI and ajv of npm.
// If these two agree, our verdict must be the same. SCHEMA_PAIRS sets the number of pairs, and
// SCHEMA_SEED the random seed.
func TestAgainstOthers(t *testing.T) {
	t.Parallel()
	python, node := otherValidators(t)
	count, seed := pairs(t, 1000), size(t, "SCHEMA_SEED", 1)
	g := generator{rand.New(rand.NewPCG(uint64(seed), 0))}
	var lines bytes.Buffer
	var all []pair
	for range count {
		p := g.pair()
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(text, '\n'))
		all = append(all, p)
	}
	others := [2][]any{verdicts(t, &lines, python...), verdicts(t, &lines, node...)}
	counts := map[string]int{}
	for i, p := range all {
		schema, value := encoded(t, p.Schema), encoded(t, p.Value)
		s, err := schemas.Compile(schema)
		if err != nil {
			t.Errorf("%v\n%s", err, schema)
			continue
		}
		found := s.Validate(t.Context(), value)
		valid := len(found) == 0
		a, b := others[0][i], others[1][i]
		counts[fmt.Sprintf("we %t, jsonschema %v, ajv %v", valid, a, b)]++
		if a == b && a != any(valid) {
			t.Errorf("we %t %+v, both others %v\n%s\n%s", valid, found, a, schema, value)
		} else if a != b {
			t.Logf("we %t, jsonschema %v, ajv %v\n%s\n%s", valid, a, b, schema, value)
		}
	}
	t.Logf("of %d pairs: %v", count, counts)
	for _, v := range []bool{true, false} {
		if n := counts[fmt.Sprintf("we %t, jsonschema %[1]v, ajv %[1]v", v)]; n < count/5 {
			t.Errorf("only %d pairs are valid: %t", n, v)
		}
	}
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// pairs returns the number of random pairs for a test: SCHEMA_PAIRS, or the usual number.
func pairs(t *testing.T, usual int) int {
	t.Helper()
	if testing.Short() {
		usual = 100
	}
	return size(t, "SCHEMA_PAIRS", usual)
}

// size returns a number from the environment, or the default.
func size(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// verdicts returns a program's verdict for each line.
func verdicts(t *testing.T, lines *bytes.Buffer, command ...string) []any {
	t.Helper()
	run := exec.CommandContext(t.Context(), command[0], command[1:]...)
	run.Stdin = bytes.NewReader(lines.Bytes())
	var said bytes.Buffer
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, &said)
	}
	var all []any
	for line := range strings.Lines(string(out)) {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v: %s", command, err, line)
		}
		all = append(all, v)
	}
	if n := bytes.Count(lines.Bytes(), []byte("\n")); len(all) != n {
		t.Fatalf("%s: %d verdicts on %d pairs", command, len(all), n)
	}
	return all
}

// otherValidators returns the commands of the other validators. It skips the test if they are not
// installed.
func otherValidators(t *testing.T) (python, node []string) {
	t.Helper()
	modules, err := filepath.Abs(filepath.Join("..", "..", "web", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "venv")
	program := filepath.Join(folder, "bin", "python")
	for _, command := range [][]string{
		{"node", "--eval", "require(require('module').createRequire('" + filepath.ToSlash(modules) + "').resolve('ajv-formats'))"},
		{"python3", "-m", "venv", folder},
		{program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "jsonschema==4.25.1", "rfc3339-validator==0.1.4"},
	} {
		if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			missing := fmt.Sprintf("%s: %v\n%s", strings.Join(command, " "), err, out)
			if os.Getenv("CI") == "true" {
				t.Fatal(missing)
			}
			t.Skip("the verdicts are not compared with other validators: ", missing)
		}
	}
	return []string{program, filepath.Join("testdata", "verdicts.py")}, []string{"node", filepath.Join("testdata", "verdicts.mjs"), modules}
}
