package podrace

import (
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// Placements of a group (from 1.38 on): upstream generates them in the order of a Go map, and takes any of those with the best score.

// looksForPlacements is whether the group is tried within one domain after the other next. If so, what the trace says of them is noted.
func (p *player) looksForPlacements() bool {
	if p.expects("pod_group_cycle.stage") != "PLACE" {
		return false
	}
	gate := p.world.gate
	gate.domains, gate.best = nil, ""
	for _, s := range p.rest {
		switch s.Step {
		case "pod_group_cycle.enter":
			gate.domains = append(gate.domains, valueOf(s.arg("domain")))
		case "pod_group_cycle.weigh":
			if s.says("better") {
				gate.best = gate.domains[len(gate.domains)-1]
			}
		case "pod_group_cycle.submit", "pod_group_cycle.preempt", "pod_group_cycle.reprieve":
			return true
		}
	}
	return true
}

// weigh: the result is kept or dropped when all are there.
func weigh(p *player, _ Step) error { return p.quietly("placements are scored when all were tried") }

// valueOf is the value of the topology key in the name of a domain, which is also the name of the placement.
func valueOf(domain string) string { return domain[strings.LastIndex(domain, "/")+1:] }

// orderPlacements puts those of the trace first, in its order, or gives the one that it chooses the best score. With a cancelled context, at the end of a run, upstream scores nothing:
// the scores have no placements, and the scheduler would panic.
func (g *gate) orderPlacements(list reflect.Value) {
	if list.Kind() != reflect.Slice {
		return
	}
	rank := func(n int) int {
		if at := slices.Index(g.domains, get[string](list.Index(n), "Name")); at >= 0 {
			return at
		}
		return len(g.domains)
	}
	swap := reflect.Swapper(list.Interface())
	for n := range list.Len() { // few
		if score := field(list.Index(n), "TotalScore"); score.IsValid() {
			name := get[string](field(list.Index(n), "Placement"), "Name")
			if name == "" {
				runtime.Goexit()
			}
			if name == g.best {
				score.SetInt(math.MaxInt32)
			}
			continue
		}
		for k := n; k > 0 && rank(k) < rank(k-1); k-- {
			swap(k, k-1)
		}
	}
}
