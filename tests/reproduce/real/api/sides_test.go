package podrace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
)

// The two sides that calls are made to: the driver, and a real kube-apiserver.

const (
	toldWithin = 30 * time.Second
	running    = "status.phase!=Succeeded,status.phase!=Failed" // the pods that the scheduler's informer selects
)

// side is one of them: what a scheduler is given, and what everybody else does.
type side struct {
	kubernetes.Interface
	others
	namespace string
}

// others are users, kubelets and controllers.
type others interface {
	create(o runtime.Object) (types.UID, error)
	deleteObject(kind, name string) error
	change(kind, name string, c change) error
	removePod(name string) error
	evict(name string) error
	mark(kind string) error // writes something of which the watch of a kind tells last
}

// change is a write to an object: as a merge patch, and as the driver's store does it.
type change struct {
	patch, of string
	store     func(s *Store, name string) error
}

var resources = map[string]schema.GroupVersionResource{
	podKind: v1.SchemeGroupVersion.WithResource(podKind), nodeKind: v1.SchemeGroupVersion.WithResource(nodeKind),
	volumeKind: v1.SchemeGroupVersion.WithResource(volumeKind), volumeClaimKind: v1.SchemeGroupVersion.WithResource(volumeClaimKind),
	claimKind: resourceapi.SchemeGroupVersion.WithResource(claimKind),
}

func kindOf(o runtime.Object) string {
	switch o.(type) {
	case *v1.Pod:
		return podKind
	case *v1.Node:
		return nodeKind
	case *v1.PersistentVolume:
		return volumeKind
	case *v1.PersistentVolumeClaim:
		return volumeClaimKind
	case *resourceapi.ResourceClaim:
		return claimKind
	}
	return groupKind
}

// The real API server.

type realOthers struct {
	dynamic   dynamic.Interface
	clients   kubernetes.Interface
	namespace string
	marks     int
}

const marker = "zz-marker"

func (r *realOthers) at(kind string) dynamic.ResourceInterface {
	if of := r.dynamic.Resource(resources[kind]); kind == nodeKind || kind == volumeKind {
		return of
	}
	return r.dynamic.Resource(resources[kind]).Namespace(r.namespace)
}

func (r *realOthers) create(o runtime.Object) (types.UID, error) {
	if kindOf(o) == groupKind {
		return makeGroup(r.clients, r.namespace, o)
	}
	given := o.DeepCopyObject()
	m := given.(metav1.Object)
	m.SetUID("")
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(given)
	if err != nil {
		return "", err
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(kindsOf(o))
	made, err := r.at(kindOf(o)).Create(context.Background(), object, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	if status, found := content["status"]; found && len(status.(map[string]any)) > 0 { // what creation has dropped
		text, _ := json.Marshal(map[string]any{"status": status})
		if err := r.change(kindOf(o), m.GetName(), change{patch: string(text), of: "status"}); err != nil {
			return "", err
		}
	}
	return made.GetUID(), nil
}

func kindsOf(o runtime.Object) schema.GroupVersionKind {
	names := map[string]string{podKind: "Pod", nodeKind: "Node", volumeKind: "PersistentVolume", volumeClaimKind: "PersistentVolumeClaim", claimKind: "ResourceClaim"}
	return resources[kindOf(o)].GroupVersion().WithKind(names[kindOf(o)])
}

func (r *realOthers) deleteObject(kind, name string) error {
	return r.at(kind).Delete(context.Background(), name, metav1.DeleteOptions{})
}

func (r *realOthers) change(kind, name string, c change) error {
	var of []string
	if c.of != "" {
		of = append(of, c.of)
	}
	_, err := r.at(kind).Patch(context.Background(), name, types.MergePatchType, []byte(c.patch), metav1.PatchOptions{}, of...)
	return err
}

func (r *realOthers) removePod(name string) error {
	now := int64(0)
	return r.at(podKind).Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: &now})
}

func (r *realOthers) evict(name string) error {
	return r.clients.PolicyV1().Evictions(r.namespace).Evict(context.Background(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: r.namespace}})
}

func (r *realOthers) mark(kind string) error {
	r.marks++
	_, err := r.create(sample(kind, fmt.Sprint(marker, r.marks, "-", r.namespace)))
	return err
}

// The driver.

type drivenOthers struct {
	clients kubernetes.Interface
	store   *Store
	player  *player
	marks   int
}

func newDriven() *side {
	s, stage := newStore(), newStage()
	s.auto, s.holds, s.names = true, true, names{}
	owner := &instance{stage: stage, failing: map[string]*actor{}}
	owner.specials.of = map[string]string{"user": "special"}
	g := &gate{stage: stage, owner: owner, panics: new(bool)}
	owner.gate = g
	c := &Case{Budgets: []budget{webBudget()}, names: s.names}
	w := &World{Case: c, Stage: stage, Store: s, instance: owner}
	w.budgets = newBudgets(c)
	clients := &client{fake.NewSimpleClientset(), s, g}
	return &side{Interface: clients, others: &drivenOthers{clients: clients, store: s, player: &player{world: w}}, namespace: "ns"}
}

func (d *drivenOthers) create(o runtime.Object) (types.UID, error) {
	if kindOf(o) == groupKind {
		return makeGroup(d.clients, "ns", o)
	}
	o = o.DeepCopyObject()
	m := o.(metav1.Object)
	id := m.GetName()
	if p, is := o.(*v1.Pod); is {
		for slices.ContainsFunc(d.player.world.Case.Pods, func(q *v1.Pod) bool { return idOf(q) == id }) {
			id += "-again"
		}
		d.store.names[id] = m.GetName()
		p.UID = types.UID(id)
		d.player.world.Case.Pods = append(d.player.world.Case.Pods, p)
	}
	if before := func(e event) bool { return e.name == id }; kindOf(o) == claimKind && slices.ContainsFunc(d.store.log[claimKind], before) {
		id += nextUID + "2"
	}
	m.SetUID(types.UID(id))
	d.store.Create(o)
	return m.GetUID(), nil
}

func (d *drivenOthers) deleteObject(kind, name string) error {
	switch kind {
	case nodeKind:
		return d.store.DeleteNode(name)
	case claimKind:
		return d.store.DeleteClaim(name)
	case podKind:
		return d.store.DeletePod(d.store.holder(name))
	}
	d.store.write(kind, d.store.stored(kind, name), nil)
	return nil
}

func (d *drivenOthers) change(kind, name string, c change) error {
	if c.store == nil {
		return errors.New("the driver has no such write")
	}
	if kind == podKind {
		name = d.store.holder(name)
	}
	return c.store(d.store, name)
}

func (d *drivenOthers) removePod(name string) error { return d.store.RemovePod(d.store.holder(name)) }

func (d *drivenOthers) evict(name string) error {
	step := Step{Args: map[string]any{"pod": d.store.holder(name)}}
	if err := evictByAPI(d.player, step); err != nil {
		return err
	}
	return finishEviction(d.player, step)
}

func (d *drivenOthers) mark(kind string) error {
	d.marks++
	_, err := d.create(sample(kind, fmt.Sprint(marker, d.marks)))
	return err
}

// What comes of a call.

// answerOf is the kind of an answer.
func answerOf(err error) string {
	var status *apierrors.StatusError
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &status):
		return fmt.Sprintf("%d %s", status.ErrStatus.Code, status.ErrStatus.Reason)
	}
	return "refused"
}

// shown is what is compared of an object.
func shown(o runtime.Object) map[string]string {
	m := o.(metav1.Object)
	found := map[string]string{"finalizers": strings.Join(slices.DeleteFunc(slices.Clone(m.GetFinalizers()), isProtection), " "), "UID": string(m.GetUID())}
	if m.GetDeletionTimestamp() != nil {
		found["terminating"] = "yes"
	}
	switch t := o.(type) {
	case *v1.Pod:
		found["node"], found["nominated"], found["gates"], found["labels"] = t.Spec.NodeName, t.Status.NominatedNodeName, "", written(t.Labels)
		for _, gate := range t.Spec.SchedulingGates {
			found["gates"] += gate.Name
		}
		if t.Status.Phase != v1.PodPending { // the driver's pods may have none
			found["phase"] = string(t.Status.Phase)
		}
		for _, c := range t.Status.Conditions {
			found[string(c.Type)] = strings.TrimSpace(fmt.Sprint(c.Status, " ", c.Reason, " ", c.Message))
		}
		for _, c := range t.Spec.Containers {
			found["cpu"] = c.Resources.Requests.Cpu().String()
		}
		for _, c := range t.Status.ResourceClaimStatuses {
			found["claims"] += c.Name
		}
	case *v1.Node:
		found["unschedulable"], found["labels"], found["cpu"] = strconv.FormatBool(t.Spec.Unschedulable), written(t.Labels), t.Status.Allocatable.Cpu().String()
		for _, taint := range t.Spec.Taints {
			found["taints"] += taint.Key
		}
	case *resourceapi.ResourceClaim:
		found["allocated"], found["reserved"] = fmt.Sprint(deviceOf(t)), ""
		for _, of := range t.Status.Devices {
			found["reported"] += of.Device
		}
		for _, user := range t.Status.ReservedFor {
			found["reserved"] += user.Name + " "
		}
	case *v1.PersistentVolume:
		found["claim"] = fmt.Sprint(claimRefOf(t))
	default:
		for _, c := range conditionsOf(o) {
			found[c.Type] = strings.TrimSpace(fmt.Sprint(c.Status, " ", c.Reason, " ", c.Message))
		}
		found["labels"] = written(m.GetLabels())
	case *v1.PersistentVolumeClaim:
		found["volume"], found["selected"] = t.Spec.VolumeName, t.Annotations[selectedNode]
	}
	return found
}

// isProtection: admission of the real server gives volumes and their claims finalizers, which a controller takes away.
func isProtection(finalizer string) bool {
	return finalizer == "kubernetes.io/pv-protection" || finalizer == "kubernetes.io/pvc-protection"
}

func written(labels map[string]string) string {
	var found []string
	for key, value := range labels {
		if !strings.Contains(key, "kubernetes.io/") {
			found = append(found, key+"="+value)
		}
	}
	slices.Sort(found)
	return strings.Join(found, ",")
}
