package podrace

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestCalls makes the calls of all scripts to a real kube-apiserver and to the driver, and writes what both have answered.
func TestCalls(t *testing.T) {
	url := os.Getenv("PODRACE_SERVER")
	if url == "" {
		t.Skip("no kube-apiserver")
	}
	config := &rest.Config{Host: url, BearerToken: "admin", QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAFile: os.Getenv("PODRACE_CERTIFICATE")}}
	clients, objects := kubernetes.NewForConfigOrDie(config), dynamic.NewForConfigOrDie(config)
	var rows []row
	for n, s := range scripts {
		namespace := fmt.Sprint("ns", n)
		made := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		if _, err := clients.CoreV1().Namespaces().Create(context.Background(), made, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		b := webBudget()
		for _, write := range []func(context.Context, *budget) error{
			func(ctx context.Context, b *budget) error {
				made, err := clients.PolicyV1().PodDisruptionBudgets(namespace).Create(ctx, b, metav1.CreateOptions{})
				b.ResourceVersion, b.UID = made.ResourceVersion, made.UID
				return err
			},
			func(ctx context.Context, b *budget) error {
				_, err := clients.PolicyV1().PodDisruptionBudgets(namespace).UpdateStatus(ctx, b, metav1.UpdateOptions{})
				return err
			},
		} {
			if err := write(context.Background(), &b); err != nil {
				t.Fatal(err)
			}
		}
		real := perform(t, s, &side{clients, &realOthers{dynamic: objects, clients: clients, namespace: namespace}, namespace})
		driven := perform(t, s, newDriven())
		if len(real) != len(driven) {
			t.Fatalf("script %d: %v, but %v", n, real, driven)
		}
		for i, r := range real {
			rows = append(rows, row{r.Call, r.Situation, r.Real, driven[i].Real})
		}
	}
	text, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv("PODRACE_CALLS"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// row is a call, and what comes of it: the answer, and what the watch tells.
type row struct{ Call, Situation, Real, Driver string }

// script is a run of calls about objects of one kind, whose watch is looked at.
type script struct {
	kind string
	run  func(*stand)
}

// stand is where a script is played.
type stand struct {
	*side
	t       *testing.T
	kind    string
	suffix  string // of the names of objects without a namespace
	watch   watch.Interface
	known   map[string]map[string]string // of each object, what the watch has shown last
	version uint64                       // of the last event, also of those that are passed over
	told    uint64                       // of the last event that is not
	renamed map[string]string            // names that a server has made
	rows    []row
}

func perform(t *testing.T, s script, on *side) []row {
	at := &stand{side: on, t: t, kind: s.kind, suffix: fmt.Sprint("-", on.namespace), known: map[string]map[string]string{}, renamed: map[string]string{}}
	at.follow()
	s.run(at)
	at.watch.Stop()
	return at.rows
}

// follow lists, and watches from there on.
func (s *stand) follow() {
	list, err := s.list(metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.version = versionIn(list.GetResourceVersion())
	options := metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}
	core := s.CoreV1()
	switch s.kind {
	case podKind:
		options.FieldSelector = running
		s.watch, err = core.Pods(s.namespace).Watch(context.Background(), options)
	case nodeKind:
		s.watch, err = core.Nodes().Watch(context.Background(), options)
	case volumeKind:
		s.watch, err = core.PersistentVolumes().Watch(context.Background(), options)
	case volumeClaimKind:
		s.watch, err = core.PersistentVolumeClaims(s.namespace).Watch(context.Background(), options)
	case groupKind:
		var found any
		found, err = onGroups(s.Interface, s.namespace, "Watch", background, options)
		s.watch, _ = found.(watch.Interface)
	default:
		s.watch, err = s.ResourceV1().ResourceClaims(s.namespace).Watch(context.Background(), options)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stand) list(options metav1.ListOptions) (list metav1.ListInterface, err error) {
	core := s.CoreV1()
	switch s.kind {
	case podKind:
		options.FieldSelector = running
		list, err = core.Pods(s.namespace).List(context.Background(), options)
	case nodeKind:
		list, err = core.Nodes().List(context.Background(), options)
	case volumeKind:
		list, err = core.PersistentVolumes().List(context.Background(), options)
	case volumeClaimKind:
		list, err = core.PersistentVolumeClaims(s.namespace).List(context.Background(), options)
	case groupKind:
		var found any
		found, err = onGroups(s.Interface, s.namespace, "List", background, options)
		list, _ = found.(metav1.ListInterface)
	default:
		list, err = s.ResourceV1().ResourceClaims(s.namespace).List(context.Background(), options)
	}
	return list, err
}

func versionIn(version string) uint64 {
	found, _ := strconv.ParseUint(version, 10, 64)
	return found
}

// call notes what comes of a call.
func (s *stand) call(call, situation string, do func() (any, error)) {
	s.t.Helper()
	out, err := do()
	said := []string{answerOf(err)}
	before := s.version
	told := s.events()
	said = append(said, told...)
	if text, is := out.(string); is {
		said = append(said, text)
	}
	if o, is := out.(runtime.Object); is && err == nil {
		if m, e := meta.Accessor(o); e == nil {
			switch version := versionIn(m.GetResourceVersion()); {
			case len(told) == 0 && version > before:
				said = append(said, "the version rises")
			case len(told) > 0 && version != s.told:
				said = append(said, "another version is returned than told of")
			}
			if told := s.known[m.GetName()]; told != nil && !maps.Equal(told, shown(o)) {
				said = append(said, "returns "+s.differences(told, shown(o)))
			}
		}
	}
	s.rows = append(s.rows, row{Call: call, Situation: situation, Real: strings.Join(said, "; ")})
}

// set makes what a script begins with.
func (s *stand) set(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	s.events()
}

// make creates an object; gives its UID.
func (s *stand) make(o runtime.Object) types.UID {
	s.t.Helper()
	uid, err := s.create(o)
	s.set(err)
	return uid
}

// events are those that the watch has told of.
func (s *stand) events() (told []string) {
	s.t.Helper()
	if err := s.mark(s.kind); err != nil {
		s.t.Fatal(err)
	}
	late := time.After(toldWithin)
	for {
		select {
		case e, open := <-s.watch.ResultChan():
			if !open {
				s.t.Fatal("the watch has ended")
			}
			m, err := meta.Accessor(e.Object)
			if err != nil {
				s.t.Fatalf("%s: %v", e.Type, e.Object)
			}
			if strings.HasPrefix(m.GetName(), marker) {
				s.version = versionIn(m.GetResourceVersion())
				return told
			}
			told = append(told, s.tell(e, m))
		case <-late:
			s.t.Fatal("the watch does not tell of a marker")
		}
	}
}

func (s *stand) tell(e watch.Event, m metav1.Object) string {
	name, now := m.GetName(), shown(e.Object)
	text := strings.TrimSpace(fmt.Sprint(e.Type, " ", s.named(name), " ", s.differences(s.known[name], now)))
	if version := versionIn(m.GetResourceVersion()); version <= s.version {
		text += " (the resourceVersion does not increase)"
	} else {
		s.version, s.told = version, version
	}
	s.known[name] = now
	if e.Type == watch.Deleted {
		delete(s.known, name)
	}
	return text
}

// named is a name as both sides have it.
func (s *stand) named(name string) string {
	if made, has := s.renamed[name]; has {
		return made
	}
	return strings.TrimSuffix(name, s.suffix)
}

// differences are the fields that have changed.
func (s *stand) differences(old, now map[string]string) string {
	var found []string
	for _, field := range slices.Sorted(maps.Keys(now)) {
		if value := now[field]; value != old[field] && (field != "UID" || old != nil) {
			found = append(found, field+"="+s.named(value))
		}
	}
	for _, field := range slices.Sorted(maps.Keys(old)) {
		if _, has := now[field]; !has {
			found = append(found, "no "+field)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return "{" + strings.Join(found, ", ") + "}"
}
