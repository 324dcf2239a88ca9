package podrace

import (
	"container/list"
	"reflect"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Structs without a name count as the scheduler's: versions move and rename its own.
type (
	queuedOne = struct {
		Pod       *v1.Pod
		Attempts  int
		Timestamp time.Time
	}
	generated = struct{ Generation int64 }
)

// keptOf is what a keeper tells of a value.
func keptOf(value any) map[string]string {
	k := &keeper{last: map[string]string{}}
	k.begin()
	k.dig(reflect.ValueOf(value), "x")
	return k.news()
}

func queuedPod(version string, attempts int, added time.Time) *queuedOne {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "p", ResourceVersion: version, CreationTimestamp: metav1.NewTime(added)}}
	return &queuedOne{pod, attempts, added}
}

func TestClocksAndSequenceNumbersAreNotKept(t *testing.T) {
	now := time.Now()
	one, other := keptOf(queuedPod("7", 1, now)), keptOf(queuedPod("9", 1, now.Add(time.Hour)))
	if !reflect.DeepEqual(one, other) {
		t.Errorf("%v, and %v", one, other)
	}
	if more := keptOf(queuedPod("7", 2, now)); more["x.Attempts"] != "2;" || one["x.Attempts"] != "1;" {
		t.Errorf("attempts %v, and %v", one["x.Attempts"], more["x.Attempts"])
	}
	if never := keptOf(queuedPod("7", 1, time.Time{})); never["x.Timestamp"] == one["x.Timestamp"] {
		t.Error("a time that is not set is as one that is")
	}
}

func TestTheOrderOfGenerationsIsKept(t *testing.T) {
	infos := func(generations ...int64) (found []*generated) {
		for _, generation := range generations {
			found = append(found, &generated{generation})
		}
		return found
	}
	one, same, turned := keptOf(infos(3, 8)), keptOf(infos(40, 50)), keptOf(infos(8, 3))
	if kind := "x[].Generation"; one[kind] != "0;1;" || same[kind] != one[kind] || turned[kind] != "1;0;" {
		t.Errorf("%v, %v, %v", one[kind], same[kind], turned[kind])
	}
}

func TestAListIsKeptInItsOrder(t *testing.T) {
	listed := func(values ...any) *list.List {
		l := list.New()
		for _, value := range values {
			l.PushBack(value)
		}
		return l
	}
	if one, other := keptOf(listed("a", "b")), keptOf(listed("b", "a")); one["x[].Value(string)"] != "a;b;" || other["x[].Value(string)"] != "b;a;" {
		t.Errorf("%v, and %v", one, other)
	}
}

func TestASecondPointerSaysWhereTheFirstWas(t *testing.T) {
	info := &generated{}
	shared, apart := keptOf([]*generated{info, info}), keptOf([]*generated{info, {}})
	if shared["x[]"] != "x[]#1;" || shared["x[].Generation"] != "0;" || apart["x[].Generation"] != "0;0;" {
		t.Errorf("%v, and %v", shared, apart)
	}
}

func TestWhatIsNotLookedIntoIsNamed(t *testing.T) {
	found := keptOf(&v1.PodSpec{})
	if found["not looked into: v1.PodSpec"] == "" || len(found) != 1 {
		t.Errorf("%v", found)
	}
}

func TestWhatHasChangedIsNews(t *testing.T) {
	k, info := &keeper{last: map[string]string{}}, &queuedOne{Attempts: 1}
	tell := func(value any) map[string]string {
		k.begin()
		k.dig(reflect.ValueOf(value), "x")
		return k.news()
	}
	tell(info)
	info.Attempts = 2
	if news := tell(info); len(news) != 1 || news["x.Attempts"] != "2;" {
		t.Errorf("%v", news)
	}
	news := tell(&generated{})
	if text, told := news["x.Attempts"]; !told || text != "" || !strings.HasPrefix(news["x.Generation"], "0") {
		t.Errorf("%v", news)
	}
}
