package podrace

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/policy/v1"
	"k8s.io/client-go/tools/cache"
)

func TestBudgetsAreListedInTheScenariosOrder(t *testing.T) {
	order := []string{"f", "b", "e", "a", "d", "c"}
	known := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		if err := known.Add(&budget{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}); err != nil {
			t.Fatal(err)
		}
	}
	lister := &orderedBudgetLister{listers.NewPodDisruptionBudgetLister(known), order}
	found, err := lister.List(labels.Everything())
	var names []string
	for _, b := range found {
		names = append(names, b.Name)
	}
	if err != nil || !slices.Equal(names, order) {
		t.Errorf("listed %v, %v", names, err)
	}
}
