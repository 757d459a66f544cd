package audit_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"labshelf/formats/audit"
)

const (
	repository = "c2eb0000000000000000000000000001"
	firstEpoch = "5f0c0000000000000000000000000001"
)

func newSigner(t testing.TB, repository string, seed byte) *audit.Signer {
	t.Helper()
	s, err := audit.NewSigner(repository, [32]byte{seed})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func signed(t testing.TB, s *audit.Signer, h audit.Head) string {
	t.Helper()
	text, err := s.SignHead(h)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestHeads(t *testing.T) {
	t.Parallel()
	s := newSigner(t, repository, 1)
	want := audit.Head{Origin: audit.Origin{Repository: repository, Epoch: firstEpoch}, Size: 7, Root: audit.Hash{1, 2}}
	text := signed(t, s, want)
	if got, err := audit.ParseHead(text, s.Key()); got != want || err != nil {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	otherText := func(body string) string {
		n, err := note.Sign(&note.Note{Text: body}, s)
		if err != nil {
			t.Fatal(err)
		}
		return string(n)
	}
	for name, c := range map[string][2]string{
		"another key":            {text, newSigner(t, repository, 2).Key()},
		"another repository":     {text, newSigner(t, strings.Replace(repository, "c", "d", 1), 1).Key()},
		"no key":                 {text, "key"},
		"another size":           {strings.Replace(text, "\n7\n", "\n8\n", 1), s.Key()},
		"no signature":           {text[:strings.Index(text, "—")], s.Key()},
		"nothing":                {"", s.Key()},
		"signed, with two lines": {otherText("labshelf/a/b\n7\n"), s.Key()},
		"signed, with more":      {otherText("labshelf/a/b\n7\n" + strings.Repeat("A", 43) + "=\nmore\n"), s.Key()},
		"signed, with zeros":     {otherText("labshelf/a/b\n07\n" + strings.Repeat("A", 43) + "=\n"), s.Key()},
		"signed, a short root":   {otherText("labshelf/a/b\n7\nAAAA\n"), s.Key()},
		"signed, another origin": {otherText("a/b\n7\n" + strings.Repeat("A", 43) + "=\n"), s.Key()},
	} {
		if h, err := audit.ParseHead(c[0], c[1]); !errors.Is(err, audit.ErrHead) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

func TestReadHeads(t *testing.T) {
	t.Parallel()
	s := newSigner(t, repository, 1)
	one := signed(t, s, audit.Head{Origin: audit.Origin{Repository: repository, Epoch: firstEpoch}, Size: 7})
	two := signed(t, s, audit.Head{Origin: audit.Origin{Repository: repository, Epoch: firstEpoch}, Size: 12})
	for _, file := range []string{one + two, "\n" + one + "\n\n" + two + "\n", strings.ReplaceAll(one+two, "\n", "\r\n"), strings.TrimSuffix(one+two, "\n")} {
		heads, err := audit.ReadHeads(strings.NewReader(file))
		if err != nil || len(heads) != 2 || heads[0] != one || heads[1] != two {
			t.Errorf("%q: %q, %v", file, heads, err)
		}
	}
	for file, want := range map[string]string{
		"": "no head found", one + "x": "line 6 is not the first line", one + two[:40]: "has no signature", one[:60] + two: "signature",
	} {
		heads, err := audit.ReadHeads(strings.NewReader(file))
		if err == nil {
			_, err = audit.ParseHead(heads[0], s.Key())
		}
		if !errors.Is(err, audit.ErrHead) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", file, err, want)
		}
	}
}
