package browser

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// arm has the page note that the element has not been clicked yet, and when it has. A page that comes after it knows nothing.
const arm = `function() {
	window.missed = true;
	this.addEventListener("click", () => (window.missed = false), { capture: true, once: true });
	return true;
}`

var errMissed = errors.New("the element was not there any more where it had been")

// click clicks the first element in sight that fits, with the mouse. A page may move between the look for the element and the click,
// and then the click meets nothing, or a button that is not to be pressed yet: a person sees that, and clicks again.
func click[S chromedp.Selectable](v *visitor, what S) {
	v.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		_, err := run(v, chromedp.QueryAfter(what, clickFirst, chromedp.NodeVisible))
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			v.fail(fmt.Errorf("in vain tried to click %v: %w", what, err))
		}
	}
}

func clickFirst(ctx context.Context, t *chromedp.Target, nodes []*chromedp.Node) (none chromedp.Void, err error) {
	found, err := cdp.Call(ctx, t, dom.ResolveNode, dom.ResolveNodeParams{NodeID: nodes[0].NodeID})
	if err != nil {
		return none, err
	}
	on := func(p *runtime.CallFunctionOnParams) { p.ObjectID = found.Object.ObjectID }
	if _, err := chromedp.CallFunctionOn[bool](arm, on)(ctx, t); err != nil {
		return none, err
	}
	if _, err := chromedp.MouseClickNode(nodes[0])(ctx, t); err != nil {
		return none, err
	}
	missed, err := chromedp.Evaluate[bool]("window.missed === true")(ctx, t)
	if err == nil && missed {
		return none, errMissed
	}
	return none, nil // the click may have led to another page, in which nothing can be asked at once
}
