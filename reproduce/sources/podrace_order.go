package scheduler

import (
	"iter"
	"maps"
)

// podraceOrdered gives the results of the groups of a tree, a map, in the order that the driver's framework asks for: any order is one that the map may have. What it does not name comes last.
func podraceOrdered[K comparable, R any](framework any, results map[K]R) iter.Seq2[K, R] {
	driver, is := framework.(interface{ PodraceOrder() []string })
	if !is {
		return maps.All(results)
	}
	return func(yield func(K, R) bool) {
		left := maps.Clone(results)
		for _, name := range driver.PodraceOrder() {
			for key, result := range left {
				if named, is := any(key).(interface{ GetName() string }); is && named.GetName() == name {
					delete(left, key)
					if !yield(key, result) {
						return
					}
				}
			}
		}
		maps.All(left)(yield)
	}
}
