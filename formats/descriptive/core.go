package descriptive

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
)

func (c Creator) check(at *checker) {
	at.in("name", func() { at.name(c.Name, maxLine) })
	at.in("givenName", func() { at.personal(c.GivenName, c.Type) })
	at.in("familyName", func() { at.personal(c.FamilyName, c.Type) })
	at.in("type", func() { at.optional(c.Type, creatorTypes) })
	at.in("orcid", func() {
		at.personal(c.ORCID, c.Type)
		if c.ORCID != "" && !isORCID(c.ORCID) {
			at.refuse("must be an ORCID iD such as 0000-0002-1825-0097, whose last character is a checksum")
		}
	})
	at.in("affiliations", func() {
		checkList(at, c.Affiliations, maxOfOne, func(name string, at *checker) { at.name(name, maxLine) })
	})
}

// personal checks a string of a creator that an organization cannot have.
func (c *checker) personal(text, creatorType string) {
	c.line(text, maxLine)
	if text != "" && creatorType == "organization" {
		c.refuse("is not available for an organization")
	}
}

// isORCID reports whether the digits are grouped by hyphens and end with the check character of ISO
// 7064 MOD 11-2.
func isORCID(id string) bool {
	if len(id) != len("0000-0000-0000-0000") {
		return false
	}
	sum := 0
	for i, char := range []byte(id) {
		switch digit := int(char) - '0'; {
		case i%5 == 4:
			if char != '-' {
				return false
			}
		case i == len(id)-1:
			return char == "0123456789X"[(12-sum%11)%11]
		case digit < 0 || digit > 9:
			return false
		default:
			sum = (sum + digit) * 2
		}
	}
	return false
}

var doi = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^10\.[0-9]{4,9}(\.[0-9]+)*/\S+$`)
})

func (r Related) check(at *checker) {
	at.in("identifier", func() {
		at.name(r.Identifier, maxURI)
		switch {
		case r.Type == "URL":
			at.uri(r.Identifier)
		case r.Type == "DOI" && !doi().MatchString(r.Identifier):
			at.refuse("must be a DOI such as 10.5072/x, without a URL before it")
		}
	})
	at.in("type", func() { at.oneOf(r.Type, identifierTypes) })
	at.in("relation", func() { at.oneOf(r.Relation, relationTypes) })
}

func (d Date) check(at *checker) {
	at.in("date", func() {
		if _, _, ok := d.Period(); !ok {
			at.refuse("must be a year, a month, a day or a time such as 2026, 2026-01, 2026-01-02 or 2026-01-02T10:20Z, or two of these with a slash " +
				"between, the earlier one first")
		}
	})
	at.in("type", func() { at.oneOf(d.Type, dateTypes) })
	at.in("information", func() { at.text(d.Information, maxURI) })
}

func (f Funding) check(at *checker) {
	at.in("funder", func() { at.name(f.Funder, maxLine) })
	at.in("funderId", func() { at.line(f.FunderID, maxURI) })
	at.in("award", func() { at.line(f.Award, maxLine) })
	at.in("title", func() { at.line(f.Title, maxLine) })
	at.in("uri", func() {
		if f.URI != "" {
			at.line(f.URI, maxURI)
			at.uri(f.URI)
		}
	})
}

// uri checks an address that pages may show as a link.
func (c *checker) uri(text string) {
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" || strings.ContainsAny(text, " \t\n\r") {
		c.refuse("must be a URL that begins with https:// or http://")
	}
}

func (p Place) check(at *checker) {
	at.in("name", func() { at.line(p.Name, maxLine) })
	switch point := p.Latitude != "" || p.Longitude != ""; {
	case p == Place{}:
		at.refuse("must have a name, a point or a box")
	case point && p.Box != (Box{}):
		at.refuse("must not have both a point and a box")
	case point:
		at.in("latitude", func() { at.degrees(p.Latitude, 90) })
		at.in("longitude", func() { at.degrees(p.Longitude, 180) })
	case p.Box != Box{}:
		at.in("box", func() { p.Box.check(at) })
	}
}

func (x Box) check(at *checker) {
	at.in("west", func() { at.degrees(x.West, 180) })
	at.in("east", func() { at.degrees(x.East, 180) })
	at.in("south", func() { at.degrees(x.South, 90) })
	at.in("north", func() {
		at.degrees(x.North, 90)
		if x.North.Float() < x.South.Float() {
			at.refuse("must not be less than south")
		}
	})
}

func (c *checker) degrees(n Number, most float64) {
	if value := n.Float(); !n.isNumber() || value < -most || value > most {
		c.refuse("must be a number of degrees from %v to %v", -most, most)
	}
}

func (c *checker) year(year int) {
	if year < firstYear || year > lastYear {
		c.refuse("must be a year from %d to %d", firstYear, lastYear)
	}
}

func (c *checker) licence(id string) {
	if !isLicence(id) {
		c.refuse("must be an SPDX identifier such as CC-BY-4.0")
	}
}
