package audit

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// Epoch is the content of an EpochBegin: the state that the epoch continues. This entry and the
// following ones belong to the epoch.
type Epoch struct {
	ID    string `json:"epoch"` // 32 hexadecimal digits
	Base  int64  `json:"base"`  // the last stamp of the continued state
	Began int64  `json:"began"` // by the clock, in microseconds since 1970
	Size  uint64 `json:"size"`  // number of entries in that state
	Root  Hash   `json:"-"`     // of their tree
}

// Values returns the JSON object of the entry.
func (e Epoch) Values() string {
	return fmt.Sprintf(`{"epoch":%q,"base":%d,"began":%d,"size":%d,"root":%q}`, e.ID, e.Base, e.Began, e.Size, base64.StdEncoding.EncodeToString(e.Root[:]))
}

// ParseEpoch parses the values of an EpochBegin. The error wraps ErrLeaf.
func ParseEpoch(values string) (Epoch, error) {
	var read struct {
		Epoch
		Root []byte `json:"root"`
	}
	if err := json.Unmarshal([]byte(values), &read); err != nil || copy(read.Epoch.Root[:], read.Root) != len(read.Epoch.Root) {
		return Epoch{}, fmt.Errorf("%w: an epoch", ErrLeaf)
	}
	return read.Epoch, nil
}
