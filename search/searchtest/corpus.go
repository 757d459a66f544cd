package searchtest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"labshelf/search"
)

// Corpus generates random documents and queries, the same for the same seed. It may be used by one
// goroutine.
type Corpus struct {
	Documents []search.Document
	Paths     map[string][][16]byte // the ids for each "dataspace" and "dataspace/set", for Query.Resolve

	random *rand.Rand
	common *rand.Zipf // picks from the vocabulary, with a strong bias to the first words
}

// NewCorpus returns a corpus of dataspaces with a number of resources each, in up to four sets.
func NewCorpus(seed uint64, dataspaces, resources int) *Corpus {
	random := rand.New(rand.NewPCG(seed, 0))
	c := &Corpus{Paths: make(map[string][][16]byte), random: random, common: rand.NewZipf(random, 1.2, 2, uint64(len(vocabulary)-1))}
	for d := range dataspaces {
		space := c.Document(search.Dataspace)
		space.Name = fmt.Sprintf("space-%d", d)
		space.Dataspace = space.ID
		c.Documents = append(c.Documents, space)
		c.Paths[space.Name] = [][16]byte{space.ID}
		var sets [][16]byte
		for s := range 1 + random.IntN(4) {
			set := c.Document(search.Set)
			set.Name, set.Dataspace, set.Set = fmt.Sprintf("set-%d", s), space.ID, set.ID
			c.Documents = append(c.Documents, set)
			c.Paths[space.Name+"/"+set.Name] = [][16]byte{set.ID}
			sets = append(sets, set.ID)
		}
		for range resources {
			file := c.Document(search.Resource)
			file.Dataspace, file.Set = space.ID, sets[random.IntN(len(sets))]
			c.Documents = append(c.Documents, file)
		}
	}
	return c
}

// Find returns the ids of a path, or nil, for Query.Resolve.
func (c *Corpus) Find(path string) ([][16]byte, error) { return c.Paths[path], nil }

// begin is the oldest stamp, in microseconds since 1970.
var begin = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// Document returns a new document without dataspace and set, to be added or to replace another one.
func (c *Corpus) Document(kind search.Kind) search.Document {
	created := uint64(begin + c.random.Int64N(3*365*86400e6))
	d := search.Document{
		Kind: kind, Created: created, Stamp: created + uint64(c.random.Int64N(86400e6)), Name: c.name(),
		Title: c.sometimes(3, c.prose), Description: c.sometimes(10, c.prose), Uploader: oneOf(c, users),
		Tags: c.list(3, c.tag), Keywords: c.list(2, c.prose), Creators: c.list(2, c.creator), Incomplete: c.random.IntN(10) == 0,
	}
	binary.BigEndian.PutUint64(d.ID[:], created)
	binary.BigEndian.PutUint64(d.ID[8:], c.random.Uint64())
	for range c.random.IntN(4) {
		d.Properties = append(d.Properties, c.property())
	}
	if kind != search.Resource {
		d.Year = oneOf(c, []int{0, 0, 2024, 2025, 2026})
		return d
	}
	d.Size = int64(c.random.ExpFloat64() * 1e6)
	d.MediaType, d.Content, d.Format = oneOf(c, mediaTypes), oneOf(c, mediaTypes), oneOf(c, formats)
	d.Body = c.sometimes(5, func() string { return c.words(100, " ") })
	return d
}

// name returns a file name as instruments and people choose it.
func (c *Corpus) name() string {
	day := time.UnixMicro(begin).AddDate(0, 0, c.random.IntN(1000)).Format(time.DateOnly)
	separator := oneOf(c, []string{"_", "-", " ", ".", "/", ""})
	return day + "_run" + strconv.Itoa(c.random.IntN(40)) + separator + c.words(3, separator) + oneOf(c, []string{".csv", ".TIFF", ".txt", ""})
}

func (c *Corpus) prose() string { return c.words(8, oneOf(c, []string{" ", ", ", " – "})) }
func (c *Corpus) tag() string   { return c.words(1, " ") + oneOf(c, []string{"", "", " 2", "-x"}) }

func (c *Corpus) creator() string {
	return oneOf(c, []string{"Curie, Marie 0000-0002-1825-0097", "Marie Skłodowska", "Łukasz Müller", "Mueller, Zoe", "湯川 秀樹", "Ada Lovelace", "Αρχιμήδης"})
}

// words returns one to n words, most of them common, some rare.
func (c *Corpus) words(n int, separator string) string {
	all := make([]string, 1+c.random.IntN(n))
	for i := range all {
		all[i] = c.word()
	}
	return strings.Join(all, separator)
}

func (c *Corpus) word() string {
	if c.random.IntN(8) == 0 {
		return "r" + strconv.FormatUint(c.random.Uint64N(1<<20), 36)
	}
	w := vocabulary[c.common.Uint64()]
	switch c.random.IntN(5) {
	case 0:
		return strings.ToUpper(w)
	case 1:
		return w + strconv.Itoa(c.random.IntN(30))
	}
	return w
}

// property returns one leaf. There are few paths and values, so that queries match some.
func (c *Corpus) property() search.Property {
	p := oneOf(c, properties)
	switch p.Kind {
	case search.Text:
		p.Text = c.words(3, " ")
	case search.Bool:
		p.Text = strconv.FormatBool(c.random.IntN(2) == 0)
	case search.Date:
		day := time.UnixMicro(begin).UTC().AddDate(0, 0, c.random.IntN(1000))
		p.Text, p.Number = day.Format(time.DateOnly), float64(day.UnixMicro())
	default:
		p.Number = float64(c.random.IntN(60)-10) / oneOf(c, []float64{1, 2, 10, 1000})
		p.Text = strings.TrimSpace(strconv.FormatFloat(p.Number, 'g', -1, 64) + " " + p.Unit)
	}
	return p
}

// sometimes returns the result of text once in n times, and otherwise "".
func (c *Corpus) sometimes(n int, text func() string) string {
	if c.random.IntN(n) > 0 {
		return ""
	}
	return text()
}

// list returns up to n strings.
func (c *Corpus) list(n int, text func() string) []string {
	var all []string
	for range c.random.IntN(n + 1) {
		all = append(all, text())
	}
	return all
}

func oneOf[T any](c *Corpus, all []T) T { return all[c.random.IntN(len(all))] }

// vocabulary has words of several scripts, with accents, of scripts without spaces, and words that
// begin or contain one another.
var vocabulary = strings.Fields(`temperature sample run data ice core temperatur messung 温度 測定 café résumé raw iceberg sam
	Ångström straße Łódź θερμοκρασία Αθήνα температура ёлка データ サンプル がんばる อุณหภูมิ น้ำ 한국어 데이터 calibration cal
	a ab abc 温 度計 spectrum spectra œuvre ﬁeld m² ½ x-ray x_ray camelCase HTTPServer v1.2.3 naïve تجربة מדידה तापमान
	Müller mueller MULLER Koeln Köln Aangstroem Angstroem oel Öl protokoll fuel full ful malmoe Malmö Malmöer Größenüberprüfung
	Groessenueberprufung`)

var (
	users      = []string{"ada", "Grace", "jürgen", "bot-7"}
	mediaTypes = []string{"text/csv; charset=utf-8", "image/png", "image/tiff", "application/json", "text/plain", ""}
	formats    = []string{"", "", "CSV", "raw detector", "HDF5"}

	properties = []search.Property{
		{Path: "temperature", Kind: search.Quantity, Unit: "°C"},
		{Path: "temperature", Kind: search.Quantity, Unit: "K"},
		{Path: "temperature", Kind: search.Number},
		{Path: "width", Kind: search.Quantity, Unit: "mm"},
		{Path: "width", Kind: search.Quantity, Unit: "µm"},
		{Path: "width", Kind: search.Quantity, Unit: "zork"},
		{Path: "sample.n", Kind: search.Number},
		{Path: "sample.id", Kind: search.Text},
		{Path: "Sample ID", Kind: search.Text},
		{Path: "operator", Kind: search.Text},
		{Path: "Größe", Kind: search.Number},
		{Path: "ok", Kind: search.Bool},
		{Path: "sampled", Kind: search.Date},
	}
)
