package handlers_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/repository"
)

// listingOperations returns the listings of the document with their paths, without the operations
// of pages.
func (f *fixture) listingOperations() map[string]string {
	paths := map[string]string{}
	for _, op := range operations() {
		if route := routeOf(op.id); (strings.HasPrefix(op.id, "list") || op.id == "search") && !op.self {
			paths[op.id] = f.path(route, f.ids)
		}
	}
	return paths
}

// wrongParameters returns values that the parameters of listings do not accept.
func wrongParameters() map[string][]string {
	wrong := map[string][]string{
		"state":      {"both", "active,deleted", "actıve", " active", "activ\u212a"},
		"limit":      {"0", "-1", "1001", "1.0", "1e2", "0x10", "+5", " 5", "5 ", "99999999999999999999", "all", "٣"},
		"q":          {"\xff", strings.Repeat("a", 501), "size:big", `"open`},
		"counts":     {"yes", "1", "True"},
		"order":      {"random", "Newest", "id", "newest "},
		"visibility": {"both", "secret"},
		"name":       {"\x00", "a\x00b", "\xff", strings.Repeat("a", 4097)},
		"delimiter":  {"-", "//", "a/"},
		"namePrefix": {"\x00", "\xff", strings.Repeat("a", 4097)},
		"origin":     {"\xff", strings.Repeat("é", 501)},
	}
	for _, bound := range []string{"since", "until"} {
		wrong[bound] = []string{
			"yesterday", "0", "20150330", "2015-3-30", "2015-13", "2015-02-30", "2015-03-30T24:00", "2015-03-30T16:60", "2015-03-30T16:09:60Z", "2015-03-30T16",
			"2015-03-30  16:09:44", "2015-03-30T16:09:44.Z", "2015-03-30T16:09:44+2", "2015-03-30T16:09:44+24:00", "2015-03-30Z", "1427731784090", "2015-03-30T16:09:44.090ZZ", "-2015", "２０１５",
		}
	}
	return wrong
}

// TestBadQueriesAreRefused tests that an unknown, repeated, empty or invalid parameter is always
// refused, never ignored.
func TestBadQueriesAreRefused(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	f := c.newFixture(nil)
	const code = errs.CodeInvalidParameter
	good := map[string]string{
		"state": "all", "limit": "5", "since": "2001", "until": "2100", "order": "newest", "name": "x", "namePrefix": "x", "delimiter": "/", "visibility": "all",
		"origin": "x", "dataspaceId": f.dataspace, "setId": f.ids["SetId"], "userId": "me",
	}
	wrong := wrongParameters()
	var cases []bad
	add := func(what, path, query, field string) {
		cases = append(cases, bad{what, "GET", path + "?" + query, nil, http.StatusBadRequest, code, field, nil})
	}
	for id, path := range f.listingOperations() {
		var accepted []string
		for _, parameter := range routeOf(id).Parameters {
			accepted = append(accepted, parameter.Name)
		}
		for name, value := range good {
			if !slices.Contains(accepted, name) {
				add(id, path, name+"="+value, name)
				continue
			}
			f.get(path + "?" + name + "=" + value).want(http.StatusOK)
			add(id+" twice", path, name+"="+value+"&"+name+"="+value, name)
			if name != "origin" {
				add(id+" empty", path, name+"=", name)
				add(id+" bare", path, name, name)
			}
			for _, value := range wrong[name] {
				add(id, path, name+"="+url.QueryEscape(value), name)
			}
		}
		for _, name := range []string{"unknown", "State", "offset", "page", "dataspaceid", ""} {
			add(id, path, name+"=1", name)
		}
		for _, query := range []string{"state=%zz", "state=all;limit=5", "%", "state=all&limit=%2"} {
			add(id, path, query, "")
		}
	}
	set := "/sets/" + f.ids["SetId"] + "/resources"
	add("folders of one name", set, "delimiter=/&name=a", "delimiter")
	add("folders everywhere", "/resources", "delimiter=/", "delimiter")
	add("two names", set, "name=a&namePrefix=b", "namePrefix")
	for name, query := range map[string]string{"since": "since=2001&until=2002", "until": "until=2001", "order": "order=newest"} {
		add("by name, and a window", set, query+"&name=a", name)
		add("by name, and a window", set, query+"&namePrefix=a", name)
		add("folders, and a window", set, query+"&delimiter=/", name)
		if name != "order" {
			add("by name, and a window", set, query+"&order=name", name)
		}
	}
	add("oldest by name", set, "order=oldest&name=a", "order")
	add("by name everywhere", "/resources", "order=name", "order")
	add("by name in a dataspace", "/dataspaces/"+f.dataspace+"/resources", "order=name", "order")
	for _, op := range someOperations() {
		if route := routeOf(op.id); op.allow() != handlers.Everybody && !op.self {
			cases = append(cases, bad{op.id + " unknown", route.Method, f.path(route, f.ids) + "?dryrun=1", nil, http.StatusBadRequest, code, "dryrun", nil})
		}
	}
	c.refuses(cases)
	detail := f.bad("GET", "/sets?page=2", nil).object().text("detail")
	for _, accepted := range []string{"dataspaceId", "limit", "state"} {
		same(t, "the refusal names "+accepted, strings.Contains(detail, accepted), true)
	}
	if since := f.bad("GET", "/resources?since=now", nil).object().text("detail"); !strings.Contains(since, "2015-03-30T16:09:44") {
		t.Errorf("the refusal does not show the format of an instant: %s", since)
	}
}

// TestBadTokensAreRefused tests that a page token is valid only in the URL that the listing
// returned.
func TestBadTokensAreRefused(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	f, other := c.newFixture(nil), c.newFixture(nil)
	foreign := ownGateway(t, repository.Config{}, handlers.Config{}).newFixture(nil)
	tokens := map[string]string{}
	listings := f.listingOperations()
	for id, path := range listings {
		_, tokens[id], _ = strings.Cut(f.get(path+"?limit=1").object().text("nextPage"), "/query/results/")
	}
	var cases []bad
	add := func(what, path, token string) {
		cases = append(cases, bad{what, "GET", path + "/query/results/" + token, nil, http.StatusBadRequest, "invalid_page_token", "", nil})
	}
	for id, path := range listings {
		token := tokens[id]
		for at := range token {
			replaced := byte('A')
			if token[at] == 'A' {
				replaced = 'B'
			}
			if at%7 == 0 || at == len(token)-1 {
				add("altered", path, token[:at]+string(replaced)+token[at+1:])
			}
		}
		for what, wrong := range map[string]string{
			"cut off": token[:len(token)-1], "half": token[:len(token)/2], "one": token[:1], "longer": token + "A", "padded": token + "=", "twice": token + token,
			"a word": "next", "a number": "2", "not base64": "%C3%BC", "a line break": token[:4] + "%0A" + token[4:], "a space": "%20" + token, "standard base64": "%2B" + token[1:],
			"8,000 bytes": strings.Repeat("A", 8000),
		} {
			add(what, path, wrong)
		}
		for elsewhere, its := range tokens {
			if elsewhere != id {
				add("of "+elsewhere, path, its)
			}
		}
		for name, query := range map[string]string{"limit": "limit=5", "state": "state=all", "x": "x=1", "token": "token"} {
			cases = append(cases, bad{"parameters of a page", "GET", path + "/query/results/" + token + "?" + query, nil, 400, "invalid_parameter", name, nil})
		}
	}
	for id, path := range other.listingOperations() {
		if path != listings[id] {
			add("of another container", path, tokens[id])
		}
	}
	_, strange, _ := strings.Cut(foreign.get("/resources").object().text("nextPage"), "/query/results/")
	add("of another service", "/resources", strange)
	c.refuses(cases)
	for id, path := range listings {
		f.get(path + "/query/results/" + tokens[id]).want(http.StatusOK)
		f.get(path + "/query/results/" + tokens[id] + "/").want(http.StatusOK)
	}
}

// TestKeysInURLsAreRefused tests that every operation refuses a key in a URL, whether or not the
// key is valid.
func TestKeysInURLsAreRefused(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	f := c.newFixture(nil)
	var cases []bad
	for _, op := range someOperations() {
		if op.self {
			continue
		}
		route := routeOf(op.id)
		path := f.path(route, f.ids)
		for name, query := range map[string]string{
			"key": "key=x", "apiKey": "apiKey=x", "API_KEY": "API_KEY=x", "access_token": "access_token=", "Authorization": "Authorization=x", "any": "any=" + f.key, "": auth.NewKey(),
		} {
			cases = append(cases, bad{op.id, route.Method, path + "?" + query, nil, http.StatusBadRequest, "key_in_url", name, nil})
		}
	}
	c.refuses(cases)
	f.withKey("").bad("GET", "/resources?any="+f.key, nil).problem(http.StatusBadRequest, "key_in_url", "any")
	f.get("/sets/" + f.ids["SetId"] + "/resources?name=lsk_notes.txt").want(http.StatusOK)
}
