package podrace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// What becomes of a call that fails: the extender was not reached, or the scheduler stops waiting, and the extender goes on.
const (
	notReached = "FAILED"
	timedOut   = "TIMED_OUT"
)

// connection takes the requests of one process's HTTPExtender, each of which stops before and after it is answered.
type connection struct {
	extender *keptExtender
	gate     *gate
}

// connect has the HTTPExtenders of a process call the extenders of the case, each the one at its address: their order is the scheduler's. All else of them is upstream's.
func (i *instance) connect(extenders []*keptExtender, g *gate) error {
	for all, n := path(i.Waiting, "extenders"), 0; n < all.Len(); n++ {
		e := all.Index(n).Interface()
		if _, ok := e.(*caseExtender); ok {
			continue
		}
		field, address := path(e, "client"), path(e, "extenderURL")
		if !field.IsValid() || !address.IsValid() {
			return errors.New("HTTPExtender has no fields client and extenderURL")
		}
		for _, x := range extenders {
			if x.address == address.String() {
				field.Interface().(*http.Client).Transport = &connection{x, g}
			}
		}
	}
	return nil
}

func (c *connection) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var answer any
	switch verb := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]; verb {
	case "filter":
		answer, err = c.filter(body)
	case "prioritize":
		answer, err = c.prioritise(body)
	case "preempt":
		answer, err = c.preempt(body)
	case "bind":
		answer, err = c.bind(body)
	default:
		err = fmt.Errorf("the extender has no verb %s", verb)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(text)), Request: r}, nil
}

// failing is the error of a call about a pod, if it has one.
func (c *connection) failing(pod string) error {
	if c.gate.owner.isDead() {
		return context.Canceled
	}
	switch c.extender.fails[pod] {
	case notReached:
		return errFault
	case timedOut:
		return errors.New("Client.Timeout exceeded while awaiting headers")
	}
	return nil
}

func (c *connection) filter(body []byte) (any, error) {
	args := extenderv1.ExtenderArgs{}
	if err := json.Unmarshal(body, &args); err != nil {
		return nil, err
	}
	call := c.gate.enter("Extender.Filter", c.extender.spec.Name, args.Pod)
	if err := c.failing(idOf(args.Pod)); err != nil {
		if c.extender.fails[idOf(args.Pod)] == timedOut {
			c.extender.filter(idOf(args.Pod), *args.NodeNames)
		}
		call.leave(err)
		return nil, err
	}
	passed, failed := c.extender.filter(idOf(args.Pod), *args.NodeNames)
	call.leave(nil, failed, c.extender.spec.Unresolvable)
	if c.extender.spec.Unresolvable {
		return extenderv1.ExtenderFilterResult{NodeNames: &passed, FailedAndUnresolvableNodes: failed}, nil
	}
	return extenderv1.ExtenderFilterResult{NodeNames: &passed, FailedNodes: failed}, nil
}

func (c *connection) prioritise(body []byte) (any, error) {
	args := extenderv1.ExtenderArgs{}
	if err := json.Unmarshal(body, &args); err != nil {
		return nil, err
	}
	call := c.gate.enter("Extender.Prioritize", c.extender.spec.Name, args.Pod)
	err := c.failing(idOf(args.Pod))
	defer func() { call.leave(err) }()
	if err != nil {
		return nil, err
	}
	scores := extenderv1.HostPriorityList{}
	for _, node := range *args.NodeNames {
		scores = append(scores, extenderv1.HostPriority{Host: node, Score: c.extender.spec.Scores[node]})
	}
	return scores, nil
}

func (c *connection) preempt(body []byte) (any, error) {
	args := extenderv1.ExtenderPreemptionArgs{}
	if err := json.Unmarshal(body, &args); err != nil {
		return nil, err
	}
	call := c.gate.enter("Extender.Preempt", c.extender.spec.Name, args.Pod)
	err := c.failing(idOf(args.Pod))
	defer func() { call.leave(err) }()
	if err != nil {
		return nil, err
	}
	return extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: c.extender.keep(idOf(args.Pod), args.NodeNameToMetaVictims)}, nil
}

func (c *connection) bind(body []byte) (any, error) {
	args := extenderv1.ExtenderBindingArgs{}
	if err := json.Unmarshal(body, &args); err != nil {
		return nil, err
	}
	about := &v1.Binding{ObjectMeta: metav1.ObjectMeta{Name: args.PodName, UID: args.PodUID}, Target: v1.ObjectReference{Name: args.Node}}
	call := c.gate.enter("Extender.Bind", about, c.extender.spec.Name)
	pod := plainID(string(args.PodUID))
	err := c.failing(pod)
	defer func() { call.leave(err) }()
	if err != nil {
		if c.extender.fails[pod] == timedOut {
			c.extender.late[pod] = args.Node
		}
		return nil, err
	}
	return extenderv1.ExtenderBindingResult{Error: c.extender.bind(pod, args.Node)}, nil
}
