package searchtest

import (
	"fmt"
	"strconv"
	"strings"

	"labshelf/search/query"
)

// Query returns a query of one to four clauses of all kinds, most of which match some document of
// the corpus, with resolved In clauses. An error means that the generator wrote an invalid query.
func (c *Corpus) Query() (query.Query, error) {
	var clauses []string
	for range 1 + min(c.random.IntN(4), c.random.IntN(4)) {
		not := c.sometimes(6, func() string { return "-" })
		clauses = append(clauses, not+oneOf(c, makers)(c))
	}
	q, err := query.Parse(strings.Join(clauses, " "))
	if err != nil {
		return query.Query{}, fmt.Errorf("%q: %w", clauses, err)
	}
	return q.Resolve(c.Find)
}

// makers generate one clause each. Words come first and several times, as in real queries.
var makers = []func(*Corpus) string{
	(*Corpus).term, (*Corpus).term, (*Corpus).term, (*Corpus).term, (*Corpus).slice, (*Corpus).slice, (*Corpus).phrase,
	func(c *Corpus) string { return oneOf(c, []string{"space-", "set-"}) + strconv.Itoa(c.random.IntN(40)) },
	func(c *Corpus) string { return "name:" + c.term() },
	func(c *Corpus) string { return "name:" + c.slice() },
	func(c *Corpus) string { return "name:" + c.phrase() },
	func(c *Corpus) string { return `tag:"` + c.tag() + `"` },
	func(c *Corpus) string {
		return "type:" + oneOf(c, []string{"image", "image/png", "csv", "text/*", `"raw detector"`, "set", "dataspace", "file", "none"})
	},
	func(c *Corpus) string { return "in:" + c.path() },
	func(c *Corpus) string { return "by:" + oneOf(c, users) },
	func(c *Corpus) string {
		return "creator:" + oneOf(c, []string{"curie", "mar", `"marie curie"`, `"Mar"`, "0000-0002-1825-0097", "muller", "mueller", `"Müller"`, "湯川", "αρχ"})
	},
	func(c *Corpus) string { return "is:incomplete" },
	func(c *Corpus) string {
		return "size:" + c.span(func() string { return fmt.Sprintf("%04dkB", c.random.IntN(3000)) })
	},
	func(c *Corpus) string { return "modified:" + c.span(c.date) },
	func(c *Corpus) string { return "created:" + c.span(c.date) },
	func(c *Corpus) string {
		return "year:" + c.span(func() string { return strconv.Itoa(2023 + c.random.IntN(5)) })
	},
	func(c *Corpus) string { return "sampled:" + c.span(c.date) },
	(*Corpus).quantity, (*Corpus).quantity, (*Corpus).condition,
}

// term returns a word, or a prefix of one.
func (c *Corpus) term() string {
	word := []rune(c.word())
	return string(word[:len(word)-c.random.IntN(min(len(word), 3))])
}

// slice returns a random part of a document name without spaces.
func (c *Corpus) slice() string {
	name := oneOf(c, c.Documents).Name
	parts := strings.Fields(name)
	part := []rune(parts[c.random.IntN(len(parts))])
	start := c.random.IntN(len(part))
	text := string(part[start : start+1+c.random.IntN(min(len(part)-start, 12))])
	if strings.Trim(text, "-_./") == "" {
		return c.term()
	}
	return strings.TrimLeft(text, "-")
}

// phrase returns two or three adjacent words of some document, or random words.
func (c *Corpus) phrase() string {
	d := oneOf(c, c.Documents)
	parts := strings.Fields(oneOf(c, []string{d.Title, d.Description, d.Body, d.Name}))
	if len(parts) < 2 {
		return `"` + c.words(2, " ") + `"`
	}
	start := c.random.IntN(len(parts) - 1)
	end := min(start+2+c.random.IntN(2), len(parts))
	return `"` + strings.Join(parts[start:end], " ") + `"`
}

// path returns the path of a dataspace or set, or an invalid one.
func (c *Corpus) path() string {
	space := fmt.Sprintf("space-%d", c.random.IntN(len(c.Documents)/10+1))
	return space + oneOf(c, []string{"", "/set-0", "/set-1", "/set-9"})
}

// span returns a range of generated points in alphabetical order.
func (c *Corpus) span(point func() string) string {
	a, b := point(), point()
	if a > b {
		a, b = b, a
	}
	return oneOf(c, []string{">" + a, ">=" + a, "<" + b, "<=" + b, a, a + "..", ".." + b, a + ".." + b})
}

func (c *Corpus) date() string {
	day := fmt.Sprintf("%d-%02d-%02d", 2024+c.random.IntN(3), 1+c.random.IntN(12), 1+c.random.IntN(28))
	return day[:oneOf(c, []int{4, 7, 10, 10})]
}

// quantity returns a condition on a number, with a unit of the same or another dimension, an
// unknown unit, or without a unit.
func (c *Corpus) quantity() string {
	unit := oneOf(c, []string{"", "", "C", "K", "mm", "µm", "zork", "%"})
	number := float64(c.random.IntN(60)-10) / oneOf(c, []float64{1, 2, 10})
	low := strconv.FormatFloat(number, 'g', -1, 64)
	high := strconv.FormatFloat(number+float64(c.random.IntN(50)), 'g', -1, 64)
	return oneOf(c, []string{"temperature:", "temperature:", "width:", "sample.n:", "größe:"}) +
		oneOf(c, []string{">", ">=", "<", "<=", "", "..", low + ".."}) + high + unit
}

// condition returns a condition on a property of another kind.
func (c *Corpus) condition() string {
	switch c.random.IntN(3) {
	case 0:
		return "ok:" + strconv.FormatBool(c.random.IntN(2) == 0)
	case 1:
		return `"Sample ID":"` + c.words(2, " ") + `"`
	}
	return oneOf(c, []string{"operator:", "sample.id:"}) + c.word()
}
