package handlers

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"time"

	"labshelf/auth/admission"
	"labshelf/auth/errs"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
)

// cost is the class of work that a route does. All requests of a class share one budget.
type cost uint8

const (
	light   cost = iota // a few records, however much is stored
	blob                // the bytes of one file, in or out
	page                // one page of a listing
	compute             // work that grows with the stored or sent data
	stream              // an answer that is sent while it is generated
	upkeep              // minutes of work on all that is stored
	costs
)

// budget limits the requests of one class. A caller gets at most as much as is free; see package
// admission.
type budget struct {
	slots     int          // requests that run at the same time; 0: any number
	perCaller int          // requests of one caller, including those that wait or send
	memory    int64        // bytes that a request holds while it runs, in addition to its body
	sending   whileSending // state of the slot while the answer is sent
}

// whileSending says what happens to a slot while the client receives the answer.
type whileSending uint8

const (
	gives  whileSending = iota // the first byte releases the slot
	shares                     // the slot is released while a part is sent, and acquired again for the next part
	holds                      // the slot is held until the end
)

// answerMemory limits the bytes of bodies and answers in memory, for all classes together. It is
// some ten times the largest body or page, so that several callers can hold one at the same time,
// and it fits a machine with 1 GiB.
const answerMemory = 256 << 20

// budgets returns the budget of each class. A slot of compute and stream is the work of one
// processor. There are two slots for each processor, since a caller gets at most half of them. The
// limit of requests per caller is far above what a browser or a command sends at the same time.
func budgets() [costs]budget {
	processors := max(2, runtime.GOMAXPROCS(0))
	return [costs]budget{
		light:   {},
		blob:    {memory: 128 << 10, sending: holds},
		page:    {slots: 32, perCaller: 128, memory: 4 << 20},
		compute: {slots: 2 * processors, perCaller: 64, memory: 1 << 20},
		stream:  {slots: 2 * processors, perCaller: 64, memory: 1 << 20, sending: shares},
		upkeep:  {slots: 8, perCaller: 64, memory: 1 << 20, sending: holds},
	}
}

// gate admits requests to the budgets of their classes.
type gate struct {
	budgets [costs]budget
	queues  [costs]*admission.Queue // nil: the class has no slots
	memory  *admission.Memory
}

func newGate(budgets [costs]budget, memory int64) *gate {
	g := &gate{budgets: budgets, memory: admission.NewMemory(memory)}
	for class, b := range budgets {
		if b.slots > 0 {
			g.queues[class] = admission.NewQueue(admission.Limits{Slots: b.slots, PerCaller: b.perCaller})
		}
	}
	return g
}

// work is the share of the budgets that one request holds. A nil work holds nothing.
type work struct {
	answer  *response
	ctx     context.Context   // of the request
	ticket  *admission.Ticket // nil: the class has no slots
	held    admission.Held
	sending whileSending
	memory  int64 // bytes that the request holds in addition to its body
	body    int64 // bytes received so far
	begun   bool
}

// admit counts a request of a caller and begins its work. A request without a body begins
// immediately. A request with a body begins when the whole body has arrived, so that a slow body
// holds no slot. The caller of admit must call leave.
func (g *gate) admit(w http.ResponseWriter, r *exchange.Request, class cost, c admission.Caller) (leave func(), err error) {
	answer, ok := w.(*response)
	hasBody := r.Body != nil && r.Body != http.NoBody && r.Method != http.MethodGet && r.Method != http.MethodHead
	if !ok || class == light && !hasBody {
		return func() {}, nil
	}
	b := &g.budgets[class]
	k := &work{answer: answer, ctx: r.Context(), held: g.memory.Hold(c), sending: b.sending, memory: b.memory}
	if q := g.queues[class]; q != nil {
		if k.ticket, err = q.Enter(c); err != nil {
			return nil, overBudget(err)
		}
	}
	if hasBody && class != blob {
		r.Body = &countedBody{ReadCloser: r.Body, work: k}
	} else if err := k.begin(); err != nil {
		k.leave()
		return nil, err
	}
	answer.work = k
	return k.leave, nil
}

// begin waits for the slot, and counts the memory that the request holds while it runs.
func (k *work) begin() error {
	err := k.acquire()
	if err == nil {
		err = k.held.Set(k.body + k.memory)
	}
	k.begun = true
	return overBudget(err)
}

// acquire waits for the slot. The wait does not count as the request's own time.
func (k *work) acquire() error {
	if k.ticket == nil {
		return nil
	}
	began := time.Now()
	defer func() { k.answer.Idle += time.Since(began) }()
	return k.ticket.Acquire(k.ctx)
}

// leave releases everything that the request holds.
func (k *work) leave() {
	k.answer.work = nil
	if k.ticket != nil {
		k.ticket.Leave()
	}
	_ = k.held.Set(0) // a smaller amount is never refused
}

// overBudget turns the refusal of a share into an error for the client. It returns other errors
// unchanged.
func overBudget(err error) error {
	var refusal *admission.Refusal
	if !errors.As(err, &refusal) {
		return err
	}
	message := "too many of your requests are in progress"
	if refusal.Resource == "memory" {
		message = "your requests in progress use too much memory"
	}
	return &errs.Error{Kind: errs.Unavailable, Code: errs.CodeOverBudget, Err: err,
		Message: message + "; wait for some of them to end, and try again after the time in Retry-After"}
}

// pause releases the slot before the service waits for the client.
func (k *work) pause() {
	if k != nil && k.ticket != nil && k.sending != holds {
		k.ticket.Release()
	}
}

// resume acquires the slot again for the next part of an answer. It ignores errors: they mean that
// the client has gone, and the next write reports that.
func (k *work) resume() {
	if k != nil && k.sending == shares {
		_ = k.acquire()
	}
}

// sends records the length of an answer that is sent from memory as a whole. From then on the
// request holds that many bytes.
func (k *work) sends(bytes int) {
	if k != nil && k.sending == gives && k.begun {
		_ = k.held.Set(int64(bytes)) // the answer is in memory already; a refusal would not free it earlier
	}
}

// withoutSlot calls fn, which waits in a separate queue. Other requests may use the slot in the
// meantime.
func withoutSlot(w http.ResponseWriter, fn func() error) error {
	answer, ok := w.(*response)
	if !ok || answer.work == nil {
		return fn()
	}
	answer.work.pause()
	err := fn()
	if err == nil && answer.work.begun {
		err = answer.work.acquire()
	}
	return err
}

// countedBody is the body of a request. While it arrives, its bytes count as memory of the caller.
type countedBody struct {
	io.ReadCloser
	work *work
}

// countStep is the step, in bytes, in which the memory of a body is counted.
const countStep = 64 << 10

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	before := b.work.body
	b.work.body += int64(n)
	if b.work.begun {
		return n, err
	}
	switch {
	case err == io.EOF:
		if refused := b.work.begin(); refused != nil {
			return n, refused
		}
	case before/countStep != b.work.body/countStep:
		if refused := b.work.held.Set((b.work.body/countStep + 1) * countStep); refused != nil {
			return n, overBudget(refused)
		}
	}
	return n, err
}

// callerOf returns the caller that a request counts for: the user, or the client address. For a
// link it adds the link as a group.
func (a *api) callerOf(r *exchange.Request) admission.Caller {
	if !r.Caller.Anonymous && r.Caller.Username != "" {
		return admission.User(r.Caller.UserID)
	}
	c := admission.Address(a.hosts.Client(r.Request))
	if token := r.Params.ByName("token"); token != "" && strings.HasPrefix(r.Path, hosts.LinkPath) {
		digest := sha256.Sum256([]byte(token))
		c.Group = "link " + string(digest[:])
	}
	return c
}
