package handlers_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"labshelf/handlers"
	"labshelf/repository"
)

// TestRangesAreBounded tests that a response contains a limited number of parts, and not more bytes
// than the file has.
func TestRangesAreBounded(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	content := strings.Repeat("0123456789", 100)
	path := "/resources/" + s.upload(s.newSet(), "a.txt", content).text("id") + "/data"
	ranges := func(n int, each string) string { return "Range: bytes=" + strings.Repeat(each+",", n) }

	ten := s.get(path, ranges(10, "5-6")).want(http.StatusPartialContent)
	_, params, err := mime.ParseMediaType(ten.header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(strings.NewReader(string(ten.body)), params["boundary"])
	got := ""
	for part, err := parts.NextPart(); err == nil; part, err = parts.NextPart() {
		text, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		got += string(text)
	}
	same(t, "ten parts", got, strings.Repeat("56", 10))
	for _, header := range []string{ranges(11, "5-6"), ranges(11, "-0"), ranges(1000, "0-"), ranges(1500, "0-999")} {
		a := s.get(path, header).problem(http.StatusRequestedRangeNotSatisfiable, "range_not_satisfiable", "")
		same(t, "Content-Range", a.header.Get("Content-Range"), fmt.Sprintf("bytes */%d", len(content)))
	}
	same(t, "overlapping ones are no more than the file", string(s.get(path, ranges(10, "0-")).want(http.StatusOK).body), content)
	same(t, "another version of the file", string(s.get(path, ranges(11, "5-6"), `If-Range: "x"`).want(http.StatusOK).body), content)
}

// TestSecurityHeaders tests the security headers of every answer.
func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	file := "/resources/" + s.upload(set, "a.html", "<script>alert(1)</script>").text("id") + "/data"
	pdf := "/resources/" + s.upload(set, "a.pdf", "%PDF-1.4\n").text("id") + "/data"
	for _, tt := range []struct {
		answer *answer
		policy string
	}{
		{s.get(file).want(200), "default-src 'none'; sandbox"},
		{s.get(file, "Range: bytes=0-1").want(206), "default-src 'none'; sandbox"},
		{s.get(pdf + "?disposition=inline").want(200), "default-src 'none'"},
		{s.get("/sets").want(200), "default-src 'none'; frame-ancestors 'none'"},
		{s.get("/status").want(200), "default-src 'none'; frame-ancestors 'none'"},
		{s.get("/sets/nothing").want(404), "default-src 'none'; frame-ancestors 'none'"},
		{s.withKey("").get("/sets").want(401), "default-src 'none'; frame-ancestors 'none'"},
		{s.send("OPTIONS", "/sets", nil).want(204), "default-src 'none'; frame-ancestors 'none'"},
	} {
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": tt.policy, "Strict-Transport-Security": "",
		} {
			same(t, tt.answer.what+" "+name, strings.Join(tt.answer.header.Values(name), "|"), want)
		}
	}
	html := s.get(file)
	same(t, "Content-Disposition", strings.HasPrefix(html.header.Get("Content-Disposition"), "attachment;"), true)
	same(t, "a script is never shown inline", strings.HasPrefix(s.get(file+"?disposition=inline").header.Get("Content-Disposition"), "attachment;"), true)
}

// TestStrictTransport tests that only a service that all clients reach over HTTPS sends
// Strict-Transport-Security, with a duration of a year.
func TestStrictTransport(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		base   string
		secure bool
		want   string
	}{
		{"https://localhost/v1", true, "max-age=31536000"}, {"https://localhost/v1", false, ""}, {"http://localhost/v1", true, ""}, {"", true, ""},
	} {
		config := handlers.Config{}
		if tt.base != "" {
			base, err := url.Parse(tt.base)
			if err != nil {
				t.Fatal(err)
			}
			config.BaseURL = base
		}
		request, got := httptest.NewRequest("GET", "http://localhost/v1/status", nil), httptest.NewRecorder()
		if tt.secure {
			request.TLS = &tls.ConnectionState{}
		}
		handlers.New(suite.gateway.repo, config).ServeHTTP(got, request)
		same(t, fmt.Sprint("status with ", tt), got.Code, http.StatusOK)
		same(t, fmt.Sprint(tt), got.Header().Get("Strict-Transport-Security"), tt.want)
	}
}

// TestAmbiguousRequestsAreRefused tests that a request that two servers could interpret differently
// is refused, or interpreted as the standard requires.
func TestAmbiguousRequestsAreRefused(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
	set := s.newSet()
	head := fmt.Sprintf("PUT /v1/sets/%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n", set, s.key)
	hidden := fmt.Sprintf("DELETE /v1/sets/%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n\r\n", set, s.key)
	body := `{"title": "x"}`
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	for name, text := range map[string]string{
		"two lengths":                head + "Content-Length: 14\r\nContent-Length: 0\r\n\r\n" + body,
		"a list of lengths":          head + "Content-Length: 14, 0\r\n\r\n" + body,
		"a signed length":            head + "Content-Length: +14\r\n\r\n" + body,
		"a negative length":          head + "Content-Length: -1\r\n\r\n" + body,
		"another coding":             head + "Transfer-Encoding: xchunked\r\n\r\n" + chunked,
		"two codings":                head + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunked,
		"chunked twice":              head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked,
		"chunked, identity":          head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + chunked,
		"a space before the colon":   head + "Transfer-Encoding : chunked\r\n\r\n" + chunked,
		"a folded first line":        strings.Replace(head, "\r\nHost", "\r\n Host", 1) + "Content-Length: 14\r\n\r\n" + body,
		"two hosts":                  head + "Host: evil.example.org\r\nContent-Length: 14\r\n\r\n" + body,
		"a bare CR in a value":       head + "X-A: a\rContent-Length: 14\r\n\r\n",
		"a bare LF after a size":     head + "Transfer-Encoding: chunked\r\n\r\ne\n" + body + "\r\n0\r\n\r\n",
		"a bare LF in an extension":  head + "Transfer-Encoding: chunked\r\n\r\ne;a\nb\r\n" + body + "\r\n0\r\n\r\n",
		"no size":                    head + "Transfer-Encoding: chunked\r\n\r\n\r\n" + body + "\r\n0\r\n\r\n",
		"a size with a prefix":       head + "Transfer-Encoding: chunked\r\n\r\n0xe\r\n" + body + "\r\n0\r\n\r\n",
		"more than the size":         head + "Transfer-Encoding: chunked\r\n\r\n1\r\n" + body + "\r\n0\r\n\r\n",
		"a length and a wrong chunk": head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	} {
		_, reader := s.dial("%s", text+hidden)
		answers := statuses(t, reader)
		if len(answers) != 1 || answers[0] != http.StatusBadRequest && answers[0] != http.StatusNotImplemented {
			t.Errorf("%s: %v", name, answers)
		}
		same(t, name+": the set", s.get("/sets/"+set).object().text("state"), "active")
	}
	// With both headers, the length is ignored (RFC 9112, 6.3). So the bytes after the chunks are
	// another request of the same client. net/http hides the length, so the service cannot refuse
	// the request. Proxies must not forward it.
	both := head + fmt.Sprintf("Content-Length: 4\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n%s", chunked)
	_, reader := s.dial("%s", both+hidden)
	same(t, "both", fmt.Sprint(statuses(t, reader)), "[200]")
	same(t, "the title", s.get("/sets/"+set).object().text("title"), "x")
}

// statuses reads answers until the connection ends, and returns their statuses.
func statuses(t *testing.T, reader *bufio.Reader) (list []int) {
	t.Helper()
	for {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return list
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Error(err)
		}
		list = append(list, response.StatusCode)
	}
}
