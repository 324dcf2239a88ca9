package podrace

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers/policy"
	informers "k8s.io/client-go/informers/policy/v1"
	listers "k8s.io/client-go/listers/policy/v1"
)

// budget is a disruption budget, in the version that the scheduler reads.
type budget = policyv1.PodDisruptionBudget

// Policy has a lister that lists budgets in the scenario's order. That of the real one is the order of a Go map, and from 1.37 on preemption counts by it which
// budgets a victim takes from (A-BUDGETS).
func (f *gatedInformers) Policy() policy.Interface {
	return &orderedPolicy{f.SharedInformerFactory.Policy(), f.budgets}
}

type orderedPolicy struct {
	policy.Interface
	order []string
}

func (p *orderedPolicy) V1() informers.Interface { return &orderedPolicyV1{p.Interface.V1(), p.order} }

type orderedPolicyV1 struct {
	informers.Interface
	order []string
}

func (p *orderedPolicyV1) PodDisruptionBudgets() realBudgetInformer {
	return &orderedBudgetInformer{p.Interface.PodDisruptionBudgets(), p.order}
}

type orderedBudgetInformer struct {
	realBudgetInformer
	order []string
}

func (i *orderedBudgetInformer) Lister() listers.PodDisruptionBudgetLister {
	return &orderedBudgetLister{i.realBudgetInformer.Lister(), i.order}
}

type orderedBudgetLister struct {
	listers.PodDisruptionBudgetLister
	order []string
}

func (l *orderedBudgetLister) List(selector labels.Selector) ([]*budget, error) {
	found, err := l.PodDisruptionBudgetLister.List(selector)
	slices.SortFunc(found, func(a, b *budget) int {
		return slices.Index(l.order, a.Name) - slices.Index(l.order, b.Name)
	})
	return found, err
}
