package viewers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// knownSequences is the result of Biopython or pysam for a file of testdata/sequences.
type knownSequences struct {
	Records    int
	Letters    int
	Cells      [][]string
	First      int // the first record with letters, to which Sequence and Quality belong
	Sequence   string
	Quality    []int
	References [][]string
	Samples    []string
}

func sequenceFile(t *testing.T, name string) string {
	t.Helper()
	return browser.TestFile(t, "sequences", name)
}

// knownFiles returns the results of the reference readers for the files of testdata/sequences, and
// the sorted names of the files.
func knownFiles(t *testing.T) (all map[string]knownSequences, names []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(sequenceFile(t, "expected.json")), &all); err != nil {
		t.Fatal(err)
	}
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return all, names
}

// Files by other projects show the sequences, qualities, alignments, variants and features that
// Biopython and pysam find.
func TestSightOfSequences(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	files, names := knownFiles(t)
	for i, name := range names {
		if testing.Short() && i%2 == 1 {
			continue
		}
		t.Log(name)
		want := files[name]
		l.file(name, sequenceFile(t, name))
		l.sights("sequences")
		if want.Sequence != "" {
			l.showsRecords(want)
			if want.First == 0 {
				l.showsLetters(want)
			}
		} else {
			l.showsTable(want)
		}
		if slices.Contains([]string{"longreads_original_sanger.fastq", "protein_lib.fa", "ex1.fa", "body_info.vcf", "ex10.sam"}, name) {
			l.Shots("sight-" + name)
		}
	}
}

// showsRecords compares the number and the list of records.
func (l *viewer) showsRecords(want knownSequences) {
	l.T.Helper()
	l.Sees(fmt.Sprintf("%s %s", browser.Grouped(want.Letters), map[bool]string{true: "letters", false: "bases"}[want.Cells[0][2] == ""]), "GC")
	l.WaitFor(func() error {
		shown := browser.Get(l.Visitor, chromedp.Evaluate[[][]string](`[...document.querySelectorAll(".records tbody tr")].map((r) => [...r.querySelectorAll("th, td")].map((c) => c.textContent))`))
		if len(shown) != want.Records {
			return fmt.Errorf("the list has %d records; want %d", len(shown), want.Records)
		}
		for i, row := range want.Cells {
			for j, cell := range row {
				if !sameCell(shown[i][j], cell) && shown[i][j] != cell[:min(len(cell), 120)] {
					return fmt.Errorf("record %d is %q; want %q", i, shown[i], row)
				}
			}
		}
		return nil
	})
}

// showsLetters compares the letters of the first record and their qualities.
func (l *viewer) showsLetters(want knownSequences) {
	l.T.Helper()
	letters := want.Sequence[:min(len(want.Sequence), 3000)]
	l.Until(fmt.Sprintf(`[...document.querySelectorAll(".letters .row:not(.quality)")].map((e) => e.textContent).join("") === %q`, letters))
	if want.Quality == nil {
		return
	}
	shown := browser.Get(l.Visitor, chromedp.Evaluate[string](`[...document.querySelectorAll(".letters .quality .visually-hidden")].map((e) => e.textContent.replace("qualities ", "")).join(" ")`))
	wanted := make([]string, len(letters))
	for i := range letters {
		wanted[i] = strconv.Itoa(want.Quality[i])
	}
	if shown != strings.Join(wanted, " ") {
		l.T.Errorf("the qualities are %s; want %v", shown, want.Quality)
	}
}

// showsTable compares records of line-based formats, and the content of their header.
func (l *viewer) showsTable(want knownSequences) {
	l.T.Helper()
	name := browser.Get(l.Visitor, chromedp.Evaluate[string](`document.querySelector(".side h2").textContent`))
	if want.Records != 1 {
		l.Sees(fmt.Sprintf("%s %s", browser.Grouped(want.Records), name), name)
	}
	if want.Records > 0 {
		l.showsArray(name, want.Cells)
	}
	if len(want.References) > 0 {
		l.showsArray("references", want.References)
	}
	if len(want.Samples) > 0 {
		samples := make([][]string, len(want.Samples))
		for i, sample := range want.Samples {
			samples[i] = []string{sample}
		}
		l.showsArray("samples", samples)
	}
}

// bgzip returns content in bgzip blocks.
func bgzip(t *testing.T, content string) string {
	t.Helper()
	var b strings.Builder
	for at := 0; at <= len(content); at += 60_000 {
		member := packed(t, content[at:min(len(content), at+60_000)])
		size := len(member) + 8 - 1
		b.WriteString(member[:3] + "\x04" + member[4:10] + "\x06\x00BC\x02\x00" + string([]byte{byte(size), byte(size >> 8)}) + member[10:])
	}
	return b.String()
}

// Compressed sequences are recognized: gzip with one or several members, and bgzip. The rest of a
// small file is read automatically.
func TestSightOfCompressedSequences(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	const reads = 40_000 // 3.4 MB: more than is read at first
	var all strings.Builder
	for i := range reads {
		fmt.Fprintf(&all, "@read%d\nACGTACGTAC%s\n+\nIIIIIIIIII%s\n", i, strings.Repeat("ACGT", i%8), strings.Repeat("####", i%8))
	}
	plain := all.String()
	half := strings.LastIndex(plain[:len(plain)/2], "@read")
	for _, c := range []struct{ name, content string }{
		{"plain.fastq", plain},
		{"gzip.fastq.gz", packed(t, plain)},
		{"members.fastq.gz", packed(t, plain[:half]) + packed(t, plain[half:])},
		{"bgzip.fastq.gz", bgzip(t, plain)},
	} {
		t.Log(c.name)
		l.file(c.name, c.content)
		l.sights("sequences")
		l.Sees(fmt.Sprintf("FASTQ · %s reads", browser.Grouped(reads)), "reads")
	}
}

// Only the start of a large file is read, and the page reports this. More is read on request.
func TestSightReadsMore(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("uploads 136 MB")
	}
	l := openViewer(t)
	read := "@read\n" + strings.Repeat("ACGT", 245) + "\n+\n" + strings.Repeat("I", 980) + "\n" // 1970 bytes
	l.file("large.fastq", strings.Repeat(read, 68_000_000/len(read)))
	l.sights("sequences")
	l.Sees("FASTQ · the first 1,064 reads", "reads in 2.1 MB of 68.0 MB; the file is not counted to its end")
	l.Press("Read more")
	l.Sees("FASTQ · the first 5,322 reads", "reads in 10.5 MB of 68.0 MB")
	l.file("chromosome.fa", ">one\n"+strings.Repeat("ACGT", 17_000_000)) // in one line
	l.Sees("FASTA · the first sequence · 2,097,147 bases", "the last of which is incomplete")
	l.Until(`document.querySelector(".letters .row")`)
	l.Press("Read more")
	l.Sees("10,485,755 bases")
}

// A record can be selected with the keyboard. The address contains the selection, and opens it.
func TestSightOfSequencesByKeyboard(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	r := l.file("nucleotide_lib.fa", sequenceFile(t, "nucleotide_lib.fa"))
	l.sights("sequences")
	l.Until(`(document.querySelector("[data-record='2'] button")?.focus(), document.activeElement.matches("[data-record='2'] button"))`)
	l.Key("Enter", "Enter", "\r")
	l.Until(`location.search.includes("item=2") && document.querySelector(".side h2")?.textContent === document.activeElement.textContent`)
	l.At("/resources/" + r.ID + "?item=6")
	l.Until(`document.querySelector("[data-record='6'] [aria-pressed=true]")`)
}

// A damaged or hostile file shows an error and the records before the damage. Nothing in it runs.
func TestSightOfHostileSequences(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	all := strings.NewReplacer("\n", " ", "\t", " ").Replace(strings.Join(browser.Payloads, " "))
	read := "@r\nACGT\n+\nIIII\n"
	bam := sequenceFile(t, "0example_no_seq_in_header.bam")
	for _, c := range []struct{ name, content, says string }{
		{"no_qual.fastq", sequenceFile(t, "broken-error_no_qual.fastq"), "Record 1 has 0 qualities for 25 letters"},
		{"trunc.fastq", sequenceFile(t, "broken-error_trunc_in_qual.fastq"), "Record 5 is not complete"},
		{"long.fastq", read + "@s\nACGT\n+\nIIIIIIII\n", "Record 2 has 8 qualities for 4 letters"},
		{"names.fasta", ">" + all + "\nACGT\n>" + browser.Hostile[0] + "\nACGT\n", "2 sequences"},
		{"names.vcf", "##fileformat=VCFv4.3\n##INFO=<ID=" + browser.Hostile[1] + ",Description=\"" + all + "\">\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n1\t1\t" + all + "\tA\tC\t1\tPASS\t.\n", "one variant"},
		{"line.fasta", ">one\n" + strings.Repeat("ACGT", 4<<20), "16,777,216 bases"},
		{"names.sam", "@SQ\tSN:" + strings.Repeat("x", 1<<20) + "\tLN:1\n" + strings.Repeat("a\t99\tx\t1\t1\t*\t*\t0\t0\tA\tI\n", 10), "10 alignments"},
		{"empty.fasta", ">" + strings.Repeat("\n", 1<<20) + strings.Repeat(">\n", 100_000), "100,001 sequences"},
		{"bomb.fasta.gz", packed(t, ">bomb\n"+strings.Repeat("A", 200<<20)), "Only the first 128 MiB of text are shown"},
		{"cut.bam", bam[:len(bam)-100], "or was cut off"},
		{"records.bam", bgzip(t, "BAM\x01\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\x7f"+strings.Repeat("\x00", 64)), "The length of its first record is not valid"},
		{"header.bam", bgzip(t, "BAM\x01\xff\xff\xff\x7f"+strings.Repeat("\x00", 64)), "The length of its header is not valid"},
		{"contact.vcf", "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada Lovelace\r\nEND:VCARD\r\n", "FN:Ada Lovelace"}, // the same extension
		{"none.sam", strings.Repeat("\x00", 1000), "It does not begin like FASTA"},
	} {
		t.Log(c.name)
		l.file(c.name, c.content)
		l.Until(`document.querySelector(".preview :is(.hex, .lines, [data-sight])")`)
		l.Sees(c.says)
		l.Until(`document.querySelector(".preview :is(script, iframe, style, [onerror], [onload], [srcdoc], a[href^=javascript])") === null`)
		if browser.Get(l.Visitor, chromedp.Evaluate[bool](`"__hacked" in window`)) {
			t.Errorf("a script in %s ran", c.name)
		}
	}
}
