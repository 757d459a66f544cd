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

// flips damages a repository by one bit or one truncation at a time, and tests how check and the
// service report it.
func flips(ctx context.Context, t *trial) error {
	s, err := newSample(ctx, t)
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

// flipBlob flips a bit in a blob. Check must name each resource and version with this blob. The
// service must abort the download, or at least report the correct digest.
func (s *sample) flipBlob(ctx context.Context, t *trial, i int, verify bool) (err error) {
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
	all = slices.DeleteFunc(all, func(f found) bool {
		return f.Violation.Kind == "version" && strings.Contains(f.Violation.Wrong, r.SHA256)
	})
	if len(all) != len(s.owners[r.SHA256]) {
		return violated(nil, "%s: check names more than the resources %v: %s", what, s.owners[r.SHA256], o)
	}
	if err := s.checkHint(what, o, "repair --from"); err != nil {
		return err
	}
	t.add("flips in blobs", 1)
	var flags []string // by default, files of this size are verified
	if !verify {
		flags = []string{"--verify-reads=false"}
	}
	service, o, err := s.serve(ctx, flags...)
	if err != nil || service == nil {
		return violated(nil, "%s: the service does not start: %s (%v)", what, o, err)
	}
	err = s.download(ctx, service.Client, what, r, verify)
	return errors.Join(err, s.end(service, what))
}

// download downloads the damaged file twice, and then all other files.
func (s *sample) download(ctx context.Context, c *e2e.Client, what string, r record, verify bool) error {
	for range 2 {
		a, err := c.SendJSON(ctx, http.MethodGet, pathOf(r.DataURL), nil)
		reported := a.Header.Get("Repr-Digest")
		switch {
		case err != nil && verify: // cut off
		case err != nil:
			return violated(nil, "%s: %w", what, err)
		case a.Status == http.StatusInternalServerError && a.Problem().Code == "data_damaged":
		case a.Status != http.StatusOK:
			return violated(nil, "%s: %w", what, a.Problem())
		case verify:
			return violated(nil, "%s: the damaged file was served to its end", what)
		case reported != s.answers[pathOf(r.DataURL)].Header.Get("Repr-Digest"):
			return violated(nil, "%s: the answer has another digest, so the damage is not detectable: %v", what, a.Header)
		}
	}
	return s.compare(ctx, c, what, func(url string, a e2e.Answer, err error) bool {
		if strings.HasSuffix(url, "/data") {
			return bytes.Equal(s.answers[url].Body, s.answers[pathOf(r.DataURL)].Body)
		}
		var now, was any
		if err != nil || json.Unmarshal(a.Body, &now) != nil || json.Unmarshal(s.answers[url].Body, &was) != nil {
			return false
		}
		ignoreDamaged(now, r.SHA256)
		return reflect.DeepEqual(now, was)
	})
}

// ignoreDamaged removes the mark of the damaged file with this digest from an answer.
func ignoreDamaged(in any, digest string) {
	switch in := in.(type) {
	case []any:
		for _, one := range in {
			ignoreDamaged(one, digest)
		}
	case map[string]any:
		if in["sha256"] == digest && in["damaged"] == true {
			delete(in, "damaged")
		}
		for _, one := range in {
			ignoreDamaged(one, digest)
		}
	}
}

// compare fetches all URLs. Each answer must be unchanged, or differ in an allowed way.
func (s *sample) compare(ctx context.Context, c *e2e.Client, what string, allowed func(string, e2e.Answer, error) bool) error {
	for _, url := range s.urls {
		a, err := s.fetch(ctx, c, url)
		was := s.answers[url]
		if err == nil && a.Status == was.Status && (a.Status >= 400 || bytes.Equal(a.Body, was.Body)) {
			continue
		}
		if !allowed(url, a, err) {
			return violated(nil, "%s: %s was %d %.400s\nand is %d %.400s (%v)", what, url, was.Status, was.Body, a.Status, a.Body, err)
		}
	}
	return nil
}

// checkHint checks that a command reported damage and a remedy, without a stack trace.
func (s *sample) checkHint(what string, o e2e.Outcome, hint string) error {
	if o.Code != exitDamaged || !strings.Contains(o.Stderr, hint) {
		return violated(nil, "%s: want exit code %d and a hint at %q: %s", what, exitDamaged, hint, o)
	}
	return checkNoTrace(what, o.Stdout+o.Stderr)
}

// checkNoTrace checks that text contains no stack trace.
func checkNoTrace(what, text string) error {
	for _, mark := range []string{"goroutine ", "panic:", ".go:"} {
		if strings.Contains(text, mark) {
			return violated(nil, "%s: a stack trace: %s", what, text)
		}
	}
	return nil
}

// end stops the service, which must still run, and checks its log.
func (s *sample) end(service *e2e.Service, what string) error {
	if err := service.Stop(); err != nil {
		return violated(nil, "%s: %w", what, err)
	}
	log, err := os.ReadFile(s.data + ".log")
	if err != nil {
		return err
	}
	return checkNoTrace(what, string(log))
}

// flipMetadata flips a bit in the metadata file.
func (s *sample) flipMetadata(ctx context.Context, t *trial, i int) error {
	random := t.random(i)
	at, bit := random.IntN(s.pages*pageSize), random.IntN(8)
	damaged := bytes.Clone(s.metadata)
	damaged[at] ^= 1 << bit
	t.add("flips in the metadata", 1)
	return s.damageMetadata(ctx, t, fmt.Sprintf("flip of bit %d of byte %d of the metadata, on page %d", bit, at, at/pageSize), damaged)
}

// cutMetadata truncates the metadata file, at a different page in each round. Further rounds flip
// bits instead.
func (s *sample) cutMetadata(ctx context.Context, t *trial, i int) error {
	round, rounds := i/4, max(1, t.size/4)
	if round >= s.pages {
		return s.flipMetadata(ctx, t, i)
	}
	page := round
	if rounds < s.pages {
		page = round * s.pages / rounds
	}
	t.add("truncations", 1)
	return s.damageMetadata(ctx, t, fmt.Sprintf("the metadata cut off before page %d of %d", page, s.pages), s.metadata[:page*pageSize])
}

// damageMetadata replaces the metadata file by a damaged one. Check must find the damage, unless it
// is harmless.
func (s *sample) damageMetadata(ctx context.Context, t *trial, what string, damaged []byte) error {
	if err := os.WriteFile(s.path(), damaged, 0o600); err != nil {
		return err
	}
	_, o, err := check(ctx, s.program, s.data)
	if err != nil {
		return err
	}
	harmless := o.Code == 0
	if harmless {
		if raw, _, err := rawDump(s.path()); err != nil || raw != s.raw {
			return violated(nil, "%s: check finds no damage, but the content has changed (%v)", what, err)
		}
		t.add("harmless", 1)
	} else if err := s.checkHint(what, o, "backup restore"); err != nil {
		return err
	}
	service, o, err := s.serve(ctx)
	switch {
	case err != nil:
		return violated(nil, "%s: %w", what, err)
	case service == nil && harmless:
		return violated(nil, "%s: check finds no damage, but the service does not start: %s", what, o)
	case service == nil:
		t.add("refused at the start", 1)
		return errors.Join(s.checkHint(what, o, "backup"), s.restore())
	}
	err = s.compare(ctx, service.Client, what, func(url string, a e2e.Answer, err error) bool { return !harmless && s.damageShown(t, url, a, err) })
	return errors.Join(err, s.end(service, what), s.restore())
}

// damageShown reports whether damage may cause the changed answer: an error, an aborted connection,
// not found, a page with missing objects, or lower counts. bbolt has no checksums for its pages, so
// the service cannot notice missing objects. The objects that it returns must be correct.
func (s *sample) damageShown(t *trial, url string, a e2e.Answer, err error) bool {
	var p e2e.Page
	var counts, were any
	switch {
	case err != nil || a.Status >= 500:
		t.add("requests refused over damage", 1)
		return checkNoTrace(url, string(a.Body)) == nil
	case a.Status >= 400:
		t.add("requests answered as if something were not there", 1)
		return true
	case strings.HasSuffix(url, "/usage"):
		t.add("counts with something missing", 1)
		return json.Unmarshal(a.Body, &counts) == nil && json.Unmarshal(s.answers[url].Body, &were) == nil && within(counts, were)
	case json.Unmarshal(a.Body, &p) != nil || p.Data == nil && !p.End: // not a page
		return false
	}
	t.add("pages with something missing", 1)
	for _, r := range p.Data {
		var whole record
		if json.Unmarshal(s.answers[pathOf(r.URL)].Body, &whole) != nil || r != whole {
			return false
		}
	}
	return true
}

// within reports whether now is a part of was: no count is greater, and no other value is new.
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
