package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"

	"labshelf/verify/e2e"
)

// flips damages a repository, one bit or one cut at a time, and asks check and the service about it.
func flips(ctx context.Context, t *trial) error {
	s, err := newSpecimen(ctx, t)
	if err != nil {
		return err
	}
	kinds := []func(context.Context, *trial, int) error{
		func(ctx context.Context, t *trial, i int) error { return s.flipBlob(ctx, t, i, true) },
		s.flipMetadata,
		func(ctx context.Context, t *trial, i int) error { return s.flipBlob(ctx, t, i, false) },
		s.cutMetadata,
	}
	t.log("flips: %d pages of metadata, %d files", s.pages, len(s.files))
	for i := range t.units(ctx, t.size) {
		if err := kinds[i%len(kinds)](ctx, t, i); err != nil {
			return err
		}
	}
	t.add("wrong bytes with a clean end", 0)
	t.add("stack traces", 0)
	return nil
}

// flipBlob flips a bit in a blob. Check names every resource that has it; the service cuts it off, or at least tells its digest.
func (s *specimen) flipBlob(ctx context.Context, t *trial, i int, verify bool) (err error) {
	random := t.random(i)
	r := s.files[random.IntN(len(s.files))]
	whole, err := os.ReadFile(s.blob(r.SHA256))
	if err != nil {
		return err
	}
	damaged := bytes.Clone(whole)
	at := random.IntN(len(damaged))
	damaged[at] ^= 1 << random.IntN(8)
	if err := os.WriteFile(s.blob(r.SHA256), damaged, 0o600); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = errors.Join(os.WriteFile(s.blob(r.SHA256), whole, 0o600), s.restore())
		}
	}()
	what := fmt.Sprintf("bit flip at byte %d of blob %s", at, r.SHA256)
	all, o, err := check(ctx, s.program, s.data)
	if err != nil {
		return err
	}
	for _, id := range s.owners[r.SHA256] {
		if !slices.ContainsFunc(all, func(f found) bool { return f.Violation.ID == id && strings.Contains(f.Violation.Wrong, r.SHA256) }) {
			return violated(nil, "%s: check does not name resource %s: %s", what, id, o)
		}
	}
	if len(all) != len(s.owners[r.SHA256]) {
		return violated(nil, "%s: check names more than the resources %v: %s", what, s.owners[r.SHA256], o)
	}
	if err := s.hinted(what, o, "repair --from"); err != nil {
		return err
	}
	t.add("flips in blobs", 1)
	var flags []string // as it is shipped, files of this size are verified
	if !verify {
		flags = []string{"--verify-reads=false"}
	}
	service, c, o, err := s.serve(ctx, flags...)
	if err != nil || service == nil {
		return violated(nil, "%s: the service does not start: %s (%v)", what, o, err)
	}
	err = s.download(ctx, c, what, r, verify)
	return errors.Join(err, s.end(service, what))
}

// download fetches the damaged file twice, and all others.
func (s *specimen) download(ctx context.Context, c *caller, what string, r record, verify bool) error {
	for range 2 {
		a, err := c.call(ctx, http.MethodGet, pathOf(r.DataURL), nil)
		told := a.header.Get("Repr-Digest")
		switch {
		case err != nil && verify: // cut off
		case err != nil:
			return violated(nil, "%s: %w", what, err)
		case a.status == http.StatusInternalServerError && a.problem().Code == "data_damaged":
		case a.status != http.StatusOK:
			return violated(nil, "%s: %w", what, a.refusal())
		case verify:
			return violated(nil, "%s: the damaged file was served to its end", what)
		case told != s.answers[pathOf(r.DataURL)].header.Get("Repr-Digest"):
			return violated(nil, "%s: no digest tells of the damage: %v", what, a.header)
		}
	}
	return s.compare(ctx, c, what, func(url string, a answer, err error) bool {
		if strings.HasSuffix(url, "/data") {
			return bytes.Equal(s.answers[url].body, s.answers[pathOf(r.DataURL)].body)
		}
		var now, was any
		if err != nil || json.Unmarshal(a.body, &now) != nil || json.Unmarshal(s.answers[url].body, &was) != nil {
			return false
		}
		unmark(now, r.SHA256)
		return reflect.DeepEqual(now, was)
	})
}

// unmark takes out of an answer that the file with this digest is said to be damaged.
func unmark(in any, digest string) {
	switch in := in.(type) {
	case []any:
		for _, one := range in {
			unmark(one, digest)
		}
	case map[string]any:
		if in["sha256"] == digest && in["damaged"] == true {
			delete(in, "damaged")
		}
		for _, one := range in {
			unmark(one, digest)
		}
	}
}

// compare fetches everything: it must be as it was, but for what excused takes.
func (s *specimen) compare(ctx context.Context, c *caller, what string, excused func(string, answer, error) bool) error {
	for _, url := range s.urls {
		a, err := s.fetch(ctx, c, url)
		was := s.answers[url]
		if err == nil && a.status == was.status && (a.status >= 400 || bytes.Equal(a.body, was.body)) {
			continue
		}
		if !excused(url, a, err) {
			return violated(nil, "%s: %s was %d %.400s\nand is %d %.400s (%v)", what, url, was.status, was.body, a.status, a.body, err)
		}
	}
	return nil
}

// hinted sees that a command told of damage and what to do, and gave nobody a stack trace.
func (s *specimen) hinted(what string, o outcome, hint string) error {
	if o.code != exitDamaged || !strings.Contains(o.stderr, hint) {
		return violated(nil, "%s: want exit code %d and a hint at %q: %s", what, exitDamaged, hint, o)
	}
	return untraced(what, o.stdout+o.stderr)
}

// untraced sees that a text holds no stack trace.
func untraced(what, text string) error {
	for _, mark := range []string{"goroutine ", "panic:", ".go:"} {
		if strings.Contains(text, mark) {
			return violated(nil, "%s: a stack trace: %s", what, text)
		}
	}
	return nil
}

// end stops the service, which must still be there, and looks through its log.
func (s *specimen) end(service *e2e.Service, what string) error {
	if err := service.Stop(); err != nil {
		return violated(nil, "%s: %w", what, err)
	}
	log, err := os.ReadFile(s.data + ".log")
	if err != nil {
		return err
	}
	return untraced(what, string(log))
}

// flipMetadata flips a bit in the metadata file.
func (s *specimen) flipMetadata(ctx context.Context, t *trial, i int) error {
	random := t.random(i)
	at, bit := random.IntN(s.pages*pageSize), random.IntN(8)
	damaged := bytes.Clone(s.metadata)
	damaged[at] ^= 1 << bit
	t.add("flips in the metadata", 1)
	return s.damageMetadata(ctx, t, fmt.Sprintf("flip of bit %d of byte %d of the metadata, on page %d", bit, at, at/pageSize), damaged)
}

// cutMetadata cuts the metadata file off at the beginning of each page, once. What is left of the row goes to more flips.
func (s *specimen) cutMetadata(ctx context.Context, t *trial, i int) error {
	turn, turns := i/4, max(1, t.size/4)
	if turn >= s.pages {
		return s.flipMetadata(ctx, t, i)
	}
	page := turn
	if turns < s.pages {
		page = turn * s.pages / turns
	}
	t.add("truncations", 1)
	return s.damageMetadata(ctx, t, fmt.Sprintf("the metadata cut off before page %d of %d", page, s.pages), s.metadata[:page*pageSize])
}

// damageMetadata puts a damaged metadata file in the place of the whole one. Either check finds it, or nothing is damaged.
func (s *specimen) damageMetadata(ctx context.Context, t *trial, what string, damaged []byte) error {
	if err := os.WriteFile(s.path(), damaged, 0o600); err != nil {
		return err
	}
	_, o, err := check(ctx, s.program, s.data)
	if err != nil {
		return err
	}
	harmless := o.code == 0
	if harmless {
		if raw, _, err := rawDump(s.path()); err != nil || raw != s.raw {
			return violated(nil, "%s: check finds nothing, but something else is in it (%v)", what, err)
		}
		t.add("harmless", 1)
	} else if err := s.hinted(what, o, "backup restore"); err != nil {
		return err
	}
	service, c, o, err := s.serve(ctx)
	switch {
	case err != nil:
		return violated(nil, "%s: %w", what, err)
	case service == nil && harmless:
		return violated(nil, "%s: check finds nothing, but the service does not start: %s", what, o)
	case service == nil:
		t.add("refused at the start", 1)
		return errors.Join(s.hinted(what, o, "backup"), s.restore())
	}
	err = s.compare(ctx, c, what, func(url string, a answer, err error) bool { return !harmless && s.toldOf(t, url, a, err) })
	return errors.Join(err, s.end(service, what), s.restore())
}

// toldOf tells whether an answer that is not what it was is one that a damaged file may give: an error, a connection cut off,
// nothing at all, or a page or counts that lack something. bbolt has no checksums over its pages, so what a service no longer finds
// it does not miss; but what it does show must be true.
func (s *specimen) toldOf(t *trial, url string, a answer, err error) bool {
	var p page
	var counts, were any
	switch {
	case err != nil || a.status >= 500:
		t.add("requests refused over damage", 1)
		return untraced(url, string(a.body)) == nil
	case a.status >= 400:
		t.add("requests answered as if something were not there", 1)
		return true
	case strings.HasSuffix(url, "/usage"):
		t.add("counts with something missing", 1)
		return json.Unmarshal(a.body, &counts) == nil && json.Unmarshal(s.answers[url].body, &were) == nil && within(counts, were)
	case json.Unmarshal(a.body, &p) != nil || p.Data == nil && !p.End: // no page
		return false
	}
	t.add("pages with something missing", 1)
	for _, r := range p.Data {
		var whole record
		if json.Unmarshal(s.answers[pathOf(r.URL)].body, &whole) != nil || r != whole {
			return false
		}
	}
	return true
}

// within tells whether an answer is another one that lacks something: no count is greater, and nothing else is new.
func within(now, was any) bool {
	switch now := now.(type) {
	case float64:
		was, ok := was.(float64)
		return ok && now <= was
	case []any:
		was, ok := was.([]any)
		return ok && !slices.ContainsFunc(now, func(one any) bool {
			return !slices.ContainsFunc(was, func(other any) bool { return within(one, other) })
		})
	case map[string]any:
		was, ok := was.(map[string]any)
		for name := range now {
			ok = ok && within(now[name], was[name])
		}
		return ok
	}
	return now == was
}
