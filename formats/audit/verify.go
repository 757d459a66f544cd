package audit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
)

// VerifyOptions are the data to compare an export with.
type VerifyOptions struct {
	Heads []string // earlier signed heads; without them, a completely new log cannot be detected
	Key   string   // the public key for all heads; "": the key in the export
}

// Verification is the result of verifying an export.
type Verification struct {
	Head    Head   // of the export
	Key     string // that has signed Head
	Entries uint64 // in the export
	Root    Hash   // of these entries
	Epochs  []EpochBegun
	Erased  uint64         // entries whose texts were erased, according to other entries
	Older   []HeadCompared // VerifyOptions.Heads, in order

	Findings []string // contradictions within the export: the first maxFindings, in the order of the entries
	More     uint64   // number of further findings
}

// EpochBegun is an epoch and its first entry. The first epoch begins the log; each other one
// continues a restored state.
type EpochBegun struct {
	Entry uint64
	Epoch
}

// HeadCompared is the result for an older head.
type HeadCompared struct {
	Head
	Verdict  Verdict
	From, To uint64 // Changed: at least one of these entries was changed; GivenUp: all were given up. To is exclusive.
	By       uint64 // GivenUp: number of the restoration's entry
}

// Verdict is the result for the entries that a head covers.
type Verdict int

// The verdicts, from good to bad.
const (
	Unchanged Verdict = iota // all of them are unchanged in the export
	GivenUp                  // some were given up by a restoration; the head proves nothing about the others
	Changed                  // they differ in the export, and no restoration explains it
)

// maxFindings bounds Verification.Findings.
const maxFindings = 20

// Sound reports whether the export is consistent, and agrees with all older heads.
func (v *Verification) Sound() bool { return v.worst() == Unchanged }

// Tampered reports whether the export contradicts itself or an older head.
func (v *Verification) Tampered() bool { return v.worst() == Changed }

func (v *Verification) worst() (worst Verdict) {
	if len(v.Findings) > 0 {
		return Changed
	}
	for _, h := range v.Older {
		worst = max(worst, h.Verdict)
	}
	return worst
}

// Verify reads an export, computes its tree, and compares it with the signed heads. It uses one bit
// of memory for each entry, and a hash for each older head. An error means that there is no result:
// it wraps ErrExport or ErrHead, or comes from r. A tampered export is not an error.
func Verify(r io.Reader, o VerifyOptions) (*Verification, error) {
	export, header, err := OpenExport(r)
	if err != nil {
		return nil, err
	}
	v := &verifier{Verification: Verification{Key: cmp.Or(o.Key, header.Key)}, roots: map[uint64]Hash{}}
	if v.Head, err = v.open(header.Head); err != nil {
		return nil, fmt.Errorf("the head of the export: %w", err)
	}
	for i, signed := range o.Heads {
		head, err := v.open(signed)
		if err != nil {
			return nil, fmt.Errorf("older head %d: %w", i+1, err)
		}
		v.Older, v.roots[head.Size] = append(v.Older, HeadCompared{Head: head}), Hash{}
	}
	for {
		v.keepRoot()
		e, err := export.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		v.add(e)
	}
	v.finish()
	return &v.Verification, nil
}

// verifier is a running verification.
type verifier struct {
	Verification
	state State
	stamp int64           // of the last entry
	roots map[uint64]Hash // by the sizes of the older heads; zero until the tree has that size
	bare  bitset          // entries without their text that no entry reports as erased
}

// open parses a signed head, which must belong to the repository of the key.
func (v *verifier) open(signed string) (Head, error) {
	head, err := ParseHead(signed, v.Key)
	name, _, _ := strings.Cut(v.Key, "+")
	if err == nil && originPrefix+head.Origin.Repository != name {
		err = fmt.Errorf("%w: it belongs to %s, but the key to %s", ErrHead, head.Origin, name)
	}
	return head, err
}

// keepRoot stores the root of the current size, if an older head has that size.
func (v *verifier) keepRoot() {
	if _, wanted := v.roots[v.state.Size]; wanted {
		v.roots[v.state.Size] = v.state.Root()
	}
}

// find adds a finding.
func (v *verifier) find(format string, args ...any) {
	if len(v.Findings) == maxFindings {
		v.More++
		return
	}
	v.Findings = append(v.Findings, fmt.Sprintf(format, args...))
}

// add verifies the next entry.
func (v *verifier) add(x ExportEntry) {
	n := v.state.Size
	e, err := Parse(x.Leaf)
	if err != nil {
		v.find("entry %d: %v", n, err)
	} else {
		v.order(n, e)
		v.texts(n, e, x)
		v.action(n, e)
		v.stamp = e.Stamp
	}
	_, v.state = v.state.Append(x.Leaf)
}

// order verifies that an entry refers only to earlier entries.
func (v *verifier) order(n uint64, e Entry) {
	if e.Stamp < v.stamp || e.Stamp == v.stamp && e.Action != EpochBegin {
		v.find("entry %d: its stamp %d is not after the stamp of the previous entry, %d", n, e.Stamp, v.stamp)
	}
	if e.Previous != 0 && e.Previous >= n || e.Cause != 0 && e.Cause >= n {
		v.find("entry %d: it refers to an entry that is not before it", n)
	}
}

// texts compares the texts stored with an entry with the digests in its leaf.
func (v *verifier) texts(n uint64, e Entry, x ExportEntry) {
	for _, text := range []struct {
		name        string
		sealed, now [32]byte
	}{{"texts are", e.Texts, x.Texts.Digest()}, {"address is", e.Address, x.Address.Digest()}} {
		switch text.now {
		case text.sealed:
		case [32]byte{}:
			v.bare.set(n, true)
		default:
			v.find("entry %d: its %s not the sealed text", n, text.name)
		}
	}
}

// action verifies the values of actions that describe the log itself.
func (v *verifier) action(n uint64, e Entry) {
	switch e.Action {
	case EpochBegin:
		epoch, err := ParseEpoch(e.Values)
		if err != nil || epoch.Size != n || epoch.Root != v.state.Root() {
			v.find("entry %d: the epoch does not continue the entries before it", n)
		}
		v.Epochs = append(v.Epochs, EpochBegun{n, epoch})
	case Erase:
		var erased struct {
			Entry string `json:"entry"`
		}
		err := jsonv2.Unmarshal([]byte(e.Values), &erased)
		number, unread := strconv.ParseUint(erased.Entry, 10, 64)
		if err = errors.Join(err, unread); err != nil || number >= n {
			v.find("entry %d: it does not name the entry whose texts were erased", n)
		} else if v.bare.set(number, false) {
			v.Erased++
		}
	}
	if n == 0 && e.Action != EpochBegin {
		v.find("entry 0: it does not begin an epoch")
	}
}

// finish compares the complete tree with the heads.
func (v *verifier) finish() {
	v.Entries, v.Root = v.state.Size, v.state.Root()
	v.bare.each(func(n uint64) {
		v.find("entry %d: texts are missing, and no entry reports that they were erased", n)
	})
	switch {
	case v.Entries != v.Head.Size:
		v.find("the export has %d entries, but its head covers %d", v.Entries, v.Head.Size)
	case v.Root != v.Head.Root:
		v.find("the entries differ from those that the head of the export covers")
	case len(v.Epochs) > 0 && v.Epochs[len(v.Epochs)-1].ID != v.Head.Origin.Epoch:
		v.find("the last epoch of the entries differs from the epoch in the head of the export")
	}
	for i := range v.Older {
		v.compare(&v.Older[i])
	}
	v.narrow()
}

// compare compares one older head with the tree of its size.
func (v *verifier) compare(h *HeadCompared) {
	if h.Size <= v.Entries && v.roots[h.Size] == h.Root {
		return
	}
	h.Verdict, h.To = Changed, h.Size
	if h.Size > v.Entries {
		h.From = v.Entries
	}
	// An epoch that the log does not contain was given up, too, if the log has any restoration.
	own := slices.IndexFunc(v.Epochs, func(e EpochBegun) bool { return e.ID == h.Origin.Epoch })
	next := max(own, 0) + 1
	if next < len(v.Epochs) && v.Epochs[next].Entry < h.Size {
		h.Verdict, h.From, h.By = GivenUp, v.Epochs[next].Entry, v.Epochs[next].Entry
	}
}

// narrow limits the changed entries to those after an unchanged smaller head.
func (v *verifier) narrow() {
	for i := range v.Older {
		for _, other := range v.Older {
			if h := &v.Older[i]; h.Verdict == Changed && other.Verdict == Unchanged && other.Size < h.Size {
				h.From = max(h.From, other.Size)
			}
		}
	}
}
