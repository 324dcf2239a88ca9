package main

import (
	"fmt"
	"go/types"
	"strings"
)

// extensionPoints are the interfaces of plugins whose answers are noted.
var extensionPoints = []string{
	"PreEnqueuePlugin", "PreFilterPlugin", "FilterPlugin", "PostFilterPlugin", "PreScorePlugin", "ScorePlugin", "ReservePlugin", "PermitPlugin", "PreBindPlugin", "BindPlugin",
}

// noteAnswers writes, for each of them, a class whose methods note what the plugin that it embeds has answered.
func (g *generator) noteAnswers() {
	var makers strings.Builder
	for _, name := range extensionPoints {
		o, err := g.find(name)
		if err != nil {
			continue // this version has no such plugins
		}
		class, of := "noted"+name, o.Type().Underlying().(*types.Interface)
		fmt.Fprintf(&g.body, "\ntype %s struct {\n\t%s\n\tnotes *decisions\n}\n", class, g.name(o.Type()))
		for i := 0; i < of.NumMethods(); i++ {
			m := of.Method(i)
			sig := m.Type().(*types.Signature)
			params, args, plain := g.params(sig)
			results := g.results(sig)
			if len(args) == 0 || len(results.names) == 0 {
				continue // it decides nothing
			}
			fmt.Fprintf(&g.body, "\nfunc (w *%s) %s(%s) (%s) {\n", class, m.Name(), params, strings.Join(results.declared, ", "))
			fmt.Fprintf(&g.body, "\t%s = w.%s.%s(%s)\n", strings.Join(results.names, ", "), name, m.Name(), strings.Join(args, ", "))
			fmt.Fprintf(&g.body, "\tw.notes.note(w.Name(), %q, []any{%s}, []any{%s})\n\treturn\n}\n", m.Name(), strings.Join(plain, ", "), strings.Join(results.names, ", "))
		}
		fmt.Fprintf(&makers, "\t%q: func(p any, d *decisions) any { return &%s{p.(%s), d} },\n", strings.ToLower(name[:1])+name[1:]+"s", class, g.name(o.Type()))
	}
	fmt.Fprintf(&g.body, "\n// noted has, by the list of the framework that such plugins are in, what puts a class around one that notes its answers.\nvar noted = map[string]func(any, *decisions) any{\n%s}\n", makers.String())
}
