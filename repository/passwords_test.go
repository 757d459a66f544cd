package repository_test

import (
	"context"
	"errors"
	"net/netip"
	"runtime"
	"sync"
	"testing"

	"labshelf/auth"
	"labshelf/auth/admission"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/links"
	"labshelf/repository/repositorytest"
)

// guessed is a service with two links with passwords. Another caller occupies the only slot for
// password checks.
type guessed struct {
	*rationed
	first, second string // tokens
	free          func() // releases the slot
	all           sync.WaitGroup
	mu            sync.Mutex
	answers       []string // in the order in which they arrive
}

func newGuessed(t *testing.T) *guessed {
	g := &guessed{rationed: newRationed(t, repository.Config{})}
	for _, token := range []*string{&g.first, &g.second} {
		var err error
		_, *token, err = g.Service.Links.Create(t.Context(), g.editor, links.NewLink{Kind: metadata.ShareLink, SetID: new(g.Sets[0].ID.String()), LinkFields: links.LinkFields{Password: new("a blue horse")}})
		g.OK(err)
	}
	slot, err := g.Service.Links.PasswordQueue().Enter(admission.Caller{Name: "another"})
	g.OK(err)
	g.OK(slot.Acquire(t.Context()))
	g.free = slot.Leave
	return g
}

// guess sends a password. It returns when the check waits for its turn.
func (g *guessed) guess(ctx context.Context, what, token, address, password string) {
	before := g.Service.Links.PasswordQueue().Waiting()
	done := make(chan struct{})
	g.all.Go(func() {
		defer close(done)
		_, err := g.Service.Visitors.Admit(ctx, links.Visitor{Token: token, Origin: auth.Origin{Address: netip.MustParseAddr(address)}}, password)
		g.mu.Lock()
		defer g.mu.Unlock()
		if known, is := errors.AsType[*errs.Error](err); is {
			what += " " + string(known.Code)
		}
		g.answers = append(g.answers, what)
	})
	for g.Service.Links.PasswordQueue().Waiting() == before {
		select {
		case <-done:
			return
		default:
			runtime.Gosched()
		}
	}
}

// TestGuessesDelayNoOtherCaller sends many guesses for one link from one address. The correct
// password is checked before nearly all of them if it is for another link or comes from another
// address, even if the guesses are spread over both links.
func TestGuessesDelayNoOtherCaller(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spread, same bool // guesses are for both links; the right password is for the first one
	}{"another link": {}, "the same link": {same: true}, "both links": {spread: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuessed(t)
			ctx, cancel := context.WithCancel(t.Context())
			for i := range 16 {
				token := g.first
				if test.spread && i%2 > 0 {
					token = g.second
				}
				g.guess(ctx, "guess", token, "192.0.2.1", "a red horse")
			}
			g.guess(ctx, "one too many", g.first, "192.0.2.1", "a red horse")
			right := g.second
			if test.same {
				right = g.first
			}
			g.guess(t.Context(), "right", right, "192.0.2.2", "a blue horse")
			g.free()
			for came := false; !came; runtime.Gosched() {
				g.mu.Lock()
				came = len(g.answers) > 1 && (g.answers[1] == "right" || len(g.answers) > 2)
				g.mu.Unlock()
			}
			cancel() // checking the remaining guesses would take seconds
			g.all.Wait()
			if g.answers[0] != "one too many over_budget" || g.answers[1] != "right" && g.answers[2] != "right" {
				t.Errorf("the answers arrived in the order %q", g.answers)
			}
		})
	}
}

// TestRightPasswordIsRemembered: a correct password that a program sends with each request is
// accepted while guesses occupy the queue.
func TestRightPasswordIsRemembered(t *testing.T) {
	t.Parallel()
	g := newGuessed(t)
	g.free()
	visitor := links.Visitor{Token: g.first}
	proof, err := g.Service.Visitors.Admit(t.Context(), visitor, "a blue horse")
	g.OK(err)
	slot, err := g.Service.Links.PasswordQueue().Enter(admission.Caller{Name: "another"})
	g.OK(err)
	g.OK(slot.Acquire(t.Context()))
	again, err := g.Service.Visitors.Admit(t.Context(), visitor, "a blue horse")
	if g.OK(err); again != proof {
		t.Error("the proof has changed")
	}
	slot.Leave()
	_, err = g.Service.Visitors.Admit(t.Context(), visitor, "a red horse")
	repositorytest.WantCode(t, err, errs.CodeLinkPassword)
}
