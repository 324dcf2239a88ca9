package podrace

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// The words of the model for a pod's object (PodObject and PodCopy in model/environment/objects.py).

// putObject says of a table of objects what it has of a pod; a pod that it does not have is nil.
func (s sight) putObject(table string, pod *v1.Pod) {
	s[table+".exists"] = pod != nil
	s[table+".node"] = nil
	if pod != nil {
		s[table+".node"] = orNil(pod.Spec.NodeName)
	}
	s.putCopy(table, pod)
}

// putCopy says of a component's own copy what it shows of a pod that it need not have a node.
func (s sight) putCopy(table string, pod *v1.Pod) {
	if pod == nil {
		pod = &v1.Pod{}
	}
	s[table+".nominated"] = orNil(pod.Status.NominatedNodeName)
	s[table+".failed"] = unschedulableSays(pod) // A-CONDITION: any other reason counts as no condition
	s[table+".terminating"] = pod.DeletionTimestamp != nil
	s[table+".version"] = podVersion(pod)
	s[table+".gated"] = len(pod.Spec.SchedulingGates) > 0
	s[table+".opened"] = openedGates(pod)
	s[table+".named"] = namedClaims(pod)
}

// orNil is a name, or nil for none.
func orNil(name string) any {
	if name == "" {
		return nil
	}
	return name
}

// madeClaims is the annotation of a pod with the names of the claims that are made for it, from templates.
const madeClaims = "podrace.io/claims"

// namedClaims is what the pod's status names: no claims, the pod's own, or others.
func namedClaims(pod *v1.Pod) int {
	if named := pod.Annotations[timesNamed]; named != "" {
		return len(named)
	}
	if len(pod.Status.ResourceClaimStatuses) == 0 {
		return 0
	}
	for _, named := range pod.Status.ResourceClaimStatuses {
		if named.ResourceClaimName == nil || !slices.Contains(strings.Fields(pod.Annotations[madeClaims]), *named.ResourceClaimName) {
			return 2
		}
	}
	return 1
}
