package podrace

import policyv1 "k8s.io/api/policy/v1"

// budget is a disruption budget, in the version that the scheduler reads.
type budget = policyv1.PodDisruptionBudget
