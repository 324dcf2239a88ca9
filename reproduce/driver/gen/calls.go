package main

import (
	"fmt"
	"go/types"
)

// calls are the classes around the dispatcher of API calls; %[1]s is the package of its interfaces,
// %[2]s and %[3]s are what a call is executed with.
const calls = `
// gatedCall is a call that its queue keeps: it stops before and after it is executed.
type gatedCall struct {
	%[1]s.APICall
	gate      *gate
	executing bool
}

func (c *gatedCall) Execute(ctx %[2]s, client %[3]s) error {
	passing := c.gate.enter("Call.Execute", c.UID())
	c.executing = true
	err := c.APICall.Execute(ctx, client)
	passing.leave(err)
	return err
}

func (c *gatedCall) Merge(old %[1]s.APICall) error {
	if gated, is := old.(*gatedCall); is {
		old = gated.APICall
	}
	return c.APICall.Merge(old)
}

type gatedDispatcher struct {
	%[1]s.APIDispatcher
	gate *gate
}

func (d *gatedDispatcher) Add(call %[1]s.APICall, options %[1]s.APICallOptions) error {
	return d.APIDispatcher.Add(&gatedCall{APICall: call, gate: d.gate}, options)
}

// dispatching puts a gate around a dispatcher of API calls.
func dispatching(dispatcher any, g *gate) any {
	return &gatedDispatcher{dispatcher.(%[1]s.APIDispatcher), g}
}
`

const noCalls = `
// dispatching: there is no dispatcher of API calls in this version.
func dispatching(dispatcher any, _ *gate) any { return dispatcher }
`

// wrapCalls writes the classes around the dispatcher of API calls, if the version has one.
func (g *generator) wrapCalls() {
	call, err := g.find("APICall")
	if err != nil {
		g.body.WriteString(noCalls)
		return
	}
	g.name(call.Type()) // imports its package
	execute, _, _ := types.LookupFieldOrMethod(call.Type(), false, call.Pkg(), "Execute")
	with := execute.(*types.Func).Signature().Params()
	fmt.Fprintf(&g.body, calls, g.aliases[call.Pkg().Path()], g.name(with.At(0).Type()), g.name(with.At(1).Type()))
}
