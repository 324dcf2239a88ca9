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

// connect has the HTTPExtenders of a process call the extender of the case. All else of them is upstream's.
func (i *instance) connect(x *keptExtender, g *gate) error {
	for _, e := range i.Sched.Extenders {
		field := path(e, "client")
		if !field.IsValid() {
			return errors.New("HTTPExtender has no field client")
		}
		field.Interface().(*http.Client).Transport = &connection{x, g}
	}
	return nil
}

func (c *connection) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var answer any
	switch verb := strings.Trim(r.URL.Path, "/"); verb {
	case "filter":
		answer, err = c.filter(body)
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
	call := c.gate.enter("Extender.Filter", args.Pod)
	if err := c.failing(idOf(args.Pod)); err != nil {
		call.leave(err)
		return nil, err
	}
	passed, failed := c.extender.filter(idOf(args.Pod), *args.NodeNames)
	call.leave(nil, failed)
	return extenderv1.ExtenderFilterResult{NodeNames: &passed, FailedNodes: failed}, nil
}

func (c *connection) preempt(body []byte) (any, error) {
	args := extenderv1.ExtenderPreemptionArgs{}
	if err := json.Unmarshal(body, &args); err != nil {
		return nil, err
	}
	call := c.gate.enter("Extender.Preempt", args.Pod)
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
	call := c.gate.enter("Extender.Bind", about)
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
