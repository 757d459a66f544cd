package config

import "testing"

// FuzzParseFile: parsing a configuration file returns an error, or only known keys, each with its
// line. Every value is then either valid or rejected with an error.
func FuzzParseFile(f *testing.F) {
	for _, seed := range []string{
		"listen = \"127.0.0.1:0\"\nverify_reads = true\n", "max_upload = \"10GB\"\ntrusted_proxies = [\"10.0.0.0/8\"]", "lisen = 1", "listen = ", "[table]\nx = 1",
		"page_size = 9223372036854775808", "a.b.c = 1\nlisten = [1, [2]]", "stall_timeout = 1979-05-27T07:32:00Z", "\xff", "listen = '''\n'''",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found, err := parseFile("config.toml", text)
		for _, s := range settings() {
			v, given := found[s.name]
			delete(found, s.name)
			if given && err == nil && v.From == "" {
				t.Fatalf("%q: no line is recorded for %s", text, s.name)
			}
			_ = s.rule(new(Config), v.Text)
		}
		if len(found) > 0 {
			t.Fatalf("%q: found %v", text, found)
		}
	})
}
