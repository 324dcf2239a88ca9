package podrace

import (
	"container/list"
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// tree is the node tree: the live nodes by zone, in the order in which cycles list them.
func (e *eye) tree() {
	tree := find(e.realCache, "nodeTree")
	if !tree.IsValid() {
		return
	}
	for _, node := range e.nodes {
		e.see["node_tree.zone["+node+"]"] = nil
		e.see["node_tree.nodes.member["+node+"]"] = false
	}
	for zone, list := range values(field(tree, "tree")) {
		names := stringsIn(list)
		for i, node := range names {
			e.see["node_tree.zone["+node+"]"] = zoneName(zone)
			e.see["node_tree.nodes.member["+node+"]"] = true
			for j, other := range names { // of two zones nobody can say which node came first
				if i != j {
					e.see["node_tree.nodes.after["+node+"]["+other+"]"] = i > j
				}
			}
		}
	}
	e.order("node_tree.zones", zonesIn(tree), e.zones, func(string, string) bool { return true })
}

// order says of a list which entries are in it, and of those pairs that can be told apart which comes later.
func (e *eye) order(name string, list, all []string, comparable func(a, b string) bool) {
	place := map[string]int{}
	for i, entry := range list {
		place[entry] = i + 1
	}
	for _, a := range all {
		e.see[name+".member["+a+"]"] = place[a] > 0
		for _, b := range all {
			if a != b && comparable(a, b) {
				e.see[name+".after["+a+"]["+b+"]"] = place[a] > 0 && place[b] > 0 && place[a] > place[b]
			}
		}
	}
}

// generations is the list of NodeInfos, most recent change first.
//
// In which order the nodes and the pods of the start came is not said by a scenario; so only what has changed since then is compared. A
// write that the model does not have (A-CONDITION, A-DISRUPTION) makes a new generation as well, and so does a list after an interruption for
// each pod that it shows unchanged (A-RELIST): from then on there is nothing to compare.
func (e *eye) generations() {
	if len(e.beyond) > 0 || e.interrupted {
		return
	}
	since := map[string]int64{}
	var recent []string
	for item := find(e.realCache, "headNode"); inside(item).IsValid(); item = field(item, "next") {
		info := field(item, "info")
		for node, entry := range values(find(e.realCache, "nodes")) {
			if inside(entry).Addr() == inside(item).Addr() {
				recent = append(recent, node)
				since[node] = get[int64](info, "Generation")
			}
		}
	}
	first := e.memory.generationsAt(e.realCache, since)
	moved := func(node string) bool { return since[node] != first[node] }
	e.order("node_infos.recent", recent, e.nodes, func(a, b string) bool { return moved(a) || moved(b) })
}

// memory is what the observer keeps of a run from one look to the next: the generations of a cache's NodeInfos when it saw it first, and about
// which objects of pods hints are to be asked.
type memory struct {
	cache reflect.Value
	first map[string]int64
	asked map[asked]*v1.Pod
}

// asked is a pod in flight that an event may concern: of one that is updated in the run it is kept which object its lister had when the event came.
type asked struct {
	happened *list.Element
	pod      string
}

// askedAbout is that object; the one that the lister has now, if the event is new.
func (m *memory) askedAbout(happened *list.Element, now *v1.Pod) *v1.Pod {
	key := asked{happened, idOf(now)}
	if m.asked == nil {
		m.asked = map[asked]*v1.Pod{}
	}
	if m.asked[key] == nil {
		m.asked[key] = now
	}
	return m.asked[key]
}

func (m *memory) generationsAt(cache reflect.Value, now map[string]int64) map[string]int64 {
	if !m.cache.IsValid() || inside(m.cache).Addr() != inside(cache).Addr() {
		m.cache, m.first = cache, now
	}
	return m.first
}

func zonesIn(tree reflect.Value) []string {
	var found []string
	for _, zone := range stringsIn(field(tree, "zones")) {
		found = append(found, zoneName(zone))
	}
	return found
}

// zoneName is the name that the model has for a zone, region/zone; upstream puts a null character between the two.
func zoneName(key string) string { return strings.ReplaceAll(key, ":\x00:", "/") }

func stringsIn(list reflect.Value) []string {
	found, _ := as[[]string](inside(list))
	return found
}
