package main

import (
	"fmt"
	"go/types"
)

// old are the packages that have the interfaces where there is no framework yet, as in 1.13.
var old = []string{root + "/internal/cache", root + "/internal/queue", root + "/factory", root + "/algorithm"}

// generateOld writes the wrappers for a version without a framework.
func (g *generator) generateOld() error {
	for _, w := range []struct{ path, name, field, class, prefix string }{
		{root + "/internal/cache", "Cache", "cacheInterface", "gatedCache", "Cache"},
		{root + "/internal/queue", "SchedulingQueue", "queueInterface", "gatedQueue", "Queue"},
		{root + "/factory", "PodPreemptor", "preemptorInterface", "gatedPreemptor", "Preemptor"},
		{root + "/factory", "PodConditionUpdater", "conditionInterface", "gatedCondition", "Condition"},
		{root + "/algorithm", "SchedulerExtender", "extenderInterface", "gatedExtender", "Extender"},
	} {
		found := g.packages[w.path].Scope().Lookup(w.name)
		if found == nil {
			return fmt.Errorf("%s has no %s", w.path, w.name)
		}
		fmt.Fprintf(&g.body, "\ntype %s = %s\n", w.field, g.name(found.Type()))
		g.wrap(w.class, w.field, w.prefix, found.Type().Underlying().(*types.Interface))
	}
	return nil
}
