package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImportCycle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, back string
		cycle      bool
	}{
		{"none", `import { x } from "./table";`, false},
		{"static", "import {\n  page,\n} from \"../app\";", true},
		{"of a type", `import type { Page } from "../app";`, true},
		{"lazy", `const later = () => import("../app").then((m) => m.page);`, true},
		{"by re-export", `export { page } from "../app";`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			web := t.TempDir()
			for name, text := range map[string]string{
				"app.tsx":        `import { home } from "./pages/home";`,
				"pages/home.tsx": `import "./table";` + "\n" + c.back,
				"pages/table.ts": "",
			} {
				file := filepath.Join(web, "src", name)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := verifyImports(web)
			if c.cycle != (err != nil) {
				t.Fatalf("error: %v, a cycle: %t", err, c.cycle)
			}
			if err != nil && !(strings.Contains(err.Error(), "app.tsx → pages/home.tsx") || strings.Contains(err.Error(), "pages/home.tsx → app.tsx")) {
				t.Errorf("the error does not name the cycle: %v", err)
			}
		})
	}
}
