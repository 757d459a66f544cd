package metadata

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestIdentityIsFrozen tests that the identity of a secret never changes, because backups are
// matched by it.
func TestIdentityIsFrozen(t *testing.T) {
	t.Parallel()
	secret := [32]byte{}
	for i := range secret {
		secret[i] = byte(i)
	}
	if got, want := IdentityOf(secret).String(), "c2ebfe56c26da8db988a61268dfbb1c6"; got != want {
		t.Errorf("identity %s, want %s", got, want)
	}
	before := IdentityOf(secret)
	secret[31]++
	if IdentityOf(secret) == before {
		t.Error("another secret results in the same identity")
	}
}

func TestEpochText(t *testing.T) {
	t.Parallel()
	type both struct {
		Identity Identity
		ID       EpochID
	}
	for _, want := range []both{{}, {Identity{1, 0xff}, EpochID{2, 0xfe}}} {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := both{Identity{9}, EpochID{9}}
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"12", strings.Repeat("0g", 16), strings.Repeat("00", 17)} {
		if err := new(EpochID).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestEpochContinues(t *testing.T) {
	t.Parallel()
	first, second := NewEpoch(0, time.Now()), NewEpoch(200, time.Now())
	if first.ID == second.ID || first.ID == (EpochID{}) {
		t.Errorf("epochs %s and %s", first.ID, second.ID)
	}
	for _, tc := range []struct {
		name  string
		epoch Epoch
		other EpochID
		stamp Stamp
		want  bool
	}{
		{"the same epoch", second, second.ID, 300, true},
		{"before the restored state", second, first.ID, 100, true},
		{"the restored state", second, first.ID, 200, true},
		{"changes that the restoration has undone", second, first.ID, 201, false},
		{"changes before the first epoch", second, EpochID{}, 200, true},
		{"later changes before the first epoch", second, EpochID{}, 201, false},
		{"without epochs", Epoch{}, EpochID{}, 300, true},
		{"restored to a state before the first epoch", Epoch{}, first.ID, 1, false},
	} {
		if got := tc.epoch.Continues(tc.other, tc.stamp); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}
