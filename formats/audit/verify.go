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

// VerifyOptions are what an export is compared with.
type VerifyOptions struct {
	Heads []string // signed heads that were noted down before; without any, a log that was made anew as a whole is not found
	Key   string   // the public key that all heads must be signed with; "": the one that the export names
}

// Verification is what an export shows.
type Verification struct {
	Head    Head   // of the export
	Key     string // that Head is signed with
	Entries uint64 // that the export has
	Root    Hash   // of their tree
	Epochs  []EpochBegun
	Erased  uint64         // entries whose texts were erased, as other entries say
	Older   []HeadCompared // VerifyOptions.Heads, in their order

	Findings []string // what is wrong with the export in itself: the first maxFindings, in the order of the entries
	More     uint64   // how many more there are
}

// EpochBegun is an epoch and its first entry. The first one is that of the log; each other one
// continues a state that was restored.
type EpochBegun struct {
	Entry uint64
	Epoch
}

// HeadCompared is what an export says about an older head.
type HeadCompared struct {
	Head
	Verdict  Verdict
	From, To uint64 // Changed: one of these entries was; GivenUp: all of them were. To is not part of it.
	By       uint64 // GivenUp: number of the entry of the restoration
}

// Verdict about the entries that a head was signed for.
type Verdict int

// The verdicts, from good to bad.
const (
	Unchanged Verdict = iota // all of them are in the export as they were
	GivenUp                  // some were given up by a restoration; the head proves nothing about the others
	Changed                  // they are not in the export as they were, and no restoration says why
)

// maxFindings bounds Verification.Findings.
const maxFindings = 20

// Sound tells whether the export is whole in itself, and all older heads are heads of it.
func (v *Verification) Sound() bool { return v.worst() == Unchanged }

// Tampered tells whether the export contradicts itself or an older head.
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

// Verify reads an export, computes its tree, and compares it with what is signed. It keeps a bit
// for each entry in memory, and a hash for each older head. The error is one that leaves nothing to
// say: it wraps ErrExport or ErrHead, or is that of r. A tampered export is no error.
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

// verifier is a verification under way.
type verifier struct {
	Verification
	state State
	stamp int64           // of the last entry
	roots map[uint64]Hash // by the sizes of the older heads; zero before the tree has that size
	bare  bitset          // entries that lack a text which no entry has said to be erased
}

// open reads a signed head, which must be one of the repository that the key belongs to.
func (v *verifier) open(signed string) (Head, error) {
	head, err := ParseHead(signed, v.Key)
	name, _, _ := strings.Cut(v.Key, "+")
	if err == nil && originPrefix+head.Origin.Repository != name {
		err = fmt.Errorf("%w: it is of %s, the key is that of %s", ErrHead, head.Origin, name)
	}
	return head, err
}

// keepRoot keeps the root of the present size, where an older head has that size.
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

// order verifies that what an entry refers to comes before it.
func (v *verifier) order(n uint64, e Entry) {
	if e.Stamp < v.stamp || e.Stamp == v.stamp && e.Action != EpochBegin {
		v.find("entry %d: its stamp %d is not after that of the entry before, %d", n, e.Stamp, v.stamp)
	}
	if e.Previous != 0 && e.Previous >= n || e.Cause != 0 && e.Cause >= n {
		v.find("entry %d: it refers to an entry that does not come before it", n)
	}
}

// texts compares what lies beside an entry with the digests in its leaf.
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
			v.find("entry %d: its %s not what was sealed", n, text.name)
		}
	}
}

// action verifies what some actions say about the log.
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
			v.find("entry %d: it does not say of which entry texts were erased", n)
		} else if v.bare.set(number, false) {
			v.Erased++
		}
	}
	if n == 0 && e.Action != EpochBegin {
		v.find("entry 0: it does not begin an epoch")
	}
}

// finish compares the whole with the heads.
func (v *verifier) finish() {
	v.Entries, v.Root = v.state.Size, v.state.Root()
	v.bare.each(func(n uint64) {
		v.find("entry %d: texts are missing, and no entry says that they were erased", n)
	})
	switch {
	case v.Entries != v.Head.Size:
		v.find("the export has %d entries, and its head is signed for %d", v.Entries, v.Head.Size)
	case v.Root != v.Head.Root:
		v.find("the entries are not those that the head of the export is signed for")
	case len(v.Epochs) > 0 && v.Epochs[len(v.Epochs)-1].ID != v.Head.Origin.Epoch:
		v.find("the last epoch of the entries is not that of the head of the export")
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
	// An epoch that the log does not name was given up, too, if there has been a restoration at
	// all.
	own := slices.IndexFunc(v.Epochs, func(e EpochBegun) bool { return e.ID == h.Origin.Epoch })
	next := max(own, 0) + 1
	if next < len(v.Epochs) && v.Epochs[next].Entry < h.Size {
		h.Verdict, h.From, h.By = GivenUp, v.Epochs[next].Entry, v.Epochs[next].Entry
	}
}

// narrow says of changed entries that they come after those which a smaller head shows to be
// unchanged.
func (v *verifier) narrow() {
	for i := range v.Older {
		for _, other := range v.Older {
			if h := &v.Older[i]; h.Verdict == Changed && other.Verdict == Unchanged && other.Size < h.Size {
				h.From = max(h.From, other.Size)
			}
		}
	}
}
