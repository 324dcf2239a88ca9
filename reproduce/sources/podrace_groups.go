package framework

import "maps"

// podraceByGroup gives the members in the entry of a tree by group, a map, in the order of the tree's groups: any order is one that the map may have.
func podraceByGroup(entry *QueuedPodGroupInfo) (lists [][]*QueuedPodInfo) {
	left := maps.Clone(entry.queuedPodInfos)
	var walk func(group *PodGroupInfo)
	walk = func(group *PodGroupInfo) {
		if list, there := left[group.GetKey()]; there {
			lists = append(lists, list)
			delete(left, group.GetKey())
		}
		for _, child := range group.Children() {
			walk(child)
		}
	}
	if entry.PodGroupInfo != nil && entry.PodGroupInfo.GenericPodGroup != nil {
		walk(entry.PodGroupInfo)
	}
	for _, list := range left {
		lists = append(lists, list)
	}
	return lists
}
