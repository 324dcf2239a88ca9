package podrace

import (
	"reflect"
	"time"

	"k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/scheduler"
	_ "k8s.io/kubernetes/pkg/scheduler/algorithmprovider" // registers the default provider
	schedulercache "k8s.io/kubernetes/pkg/scheduler/cache"
	"k8s.io/kubernetes/pkg/scheduler/factory"
)

// instance is one process of kube-scheduler.
type instance struct {
	dead    bool
	failing map[string]*actor // by pod: who has called the failure handler last
	gate    *gate
	stop    chan struct{}

	config    *factory.Config
	queue     queueInterface
	cache     cacheInterface
	informers informers.SharedInformerFactory
	cycle     cycle
}

// cycle is the pod that the scheduling cycle works on, and whether it has taken a snapshot.
type cycle struct {
	pod         *v1.Pod
	hasSnapshot bool
	hasPopped   bool // this process has begun with one
}

// passes is whether an actor is not to be held at a point: there are no claims.
func (c *cycle) passes(*actor, point) bool { return false }

// hear is told of each point that the scheduling cycle comes to.
func (c *cycle) hear(p point) {
	switch p.call {
	case "NextPod":
		*c = cycle{hasPopped: c.hasPopped || p.after}
		if p.after {
			c.pod, _ = p.results[0].(*v1.Pod)
		}
	case "Cache.UpdateNodeNameToInfoMap":
		c.hasSnapshot = true
	}
}

const never = 10000 * time.Hour

// start builds a scheduler as scheduler.New does, with the queue, the cache and the calls of its configuration behind gates.
func (w *world) start() (*instance, error) {
	i := &instance{failing: map[string]*actor{}, stop: make(chan struct{})}
	i.gate = &gate{w.stage, i}
	api := &client{fake.NewSimpleClientset(), w.cluster, i.gate}
	i.informers = informers.NewSharedInformerFactory(api, 0)
	core, apps := i.informers.Core().V1(), i.informers.Apps().V1()
	configurator := factory.NewConfigFactory(&factory.ConfigFactoryArgs{
		SchedulerName:                  v1.DefaultSchedulerName,
		Client:                         api,
		NodeInformer:                   &gatedNodes{core.Nodes(), &gatedInformer{core.Nodes().Informer(), nodeEvent, i.gate, 0}},
		PodInformer:                    &gatedPods{core.Pods(), &gatedInformer{core.Pods().Informer(), podEvent, i.gate, 0}},
		PvInformer:                     core.PersistentVolumes(),
		PvcInformer:                    core.PersistentVolumeClaims(),
		ReplicationControllerInformer:  core.ReplicationControllers(),
		ReplicaSetInformer:             apps.ReplicaSets(),
		StatefulSetInformer:            apps.StatefulSets(),
		ServiceInformer:                core.Services(),
		PdbInformer:                    i.informers.Policy().V1beta1().PodDisruptionBudgets(),
		StorageClassInformer:           i.informers.Storage().V1().StorageClasses(),
		HardPodAffinitySymmetricWeight: v1.DefaultHardPodAffinitySymmetricWeight,
		PercentageOfNodesToScore:       100,
		BindTimeoutSeconds:             scheduler.BindTimeoutSeconds,
		StopCh:                         i.stop,
	})
	i.wrapParts(configurator)
	config, err := configurator.CreateFromProvider(factory.DefaultProvider)
	if err != nil {
		return nil, err
	}
	config.Recorder = &record.FakeRecorder{}
	config.StopEverything = i.stop
	config.WaitForCacheSync = func() bool { return true } // it would look every 100 ms, and all is there
	i.config = config
	i.wrapCalls(w.answers)
	return i, nil
}

// wrapParts puts the queue and the cache behind gates, before anything is made that keeps them.
func (i *instance) wrapParts(configurator factory.Configurator) {
	queue, cache := path(configurator, "podQueue"), path(configurator, "schedulerCache")
	i.queue, i.cache = queue.Interface().(queueInterface), cache.Interface().(cacheInterface)
	queue.Set(reflect.ValueOf(&gatedQueue{i.queue, i.gate}))
	cache.Set(reflect.ValueOf(&gatedCache{i.cache, i.gate}))
	path(i.cache, "ttl").Set(reflect.ValueOf(never)) // an assumed pod expires when the trace says so
}

// wrapCalls puts what the scheduling cycle calls behind gates, and adds what decides where scores and costs leave a choice.
func (i *instance) wrapCalls(a *answers) {
	c := i.config
	next, failed := c.NextPod, c.Error
	c.NextPod = func() *v1.Pod {
		through := i.gate.enter("NextPod")
		pod := next()
		through.leave(pod)
		return pod
	}
	c.Error = func(pod *v1.Pod, err error) {
		through := i.gate.enter("FailureHandler", podName(pod.Name))
		failed(pod, err)
		through.leave()
	}
	c.PodPreemptor = &gatedPreemptor{c.PodPreemptor, i.gate}
	c.PodConditionUpdater = &gatedCondition{c.PodConditionUpdater, i.gate}
	a.join(c.Algorithm, i.gate)
}

// run starts the informers. Once nobody moves the stores are full, and the handlers have been given everything.
func (i *instance) run() {
	stir()
	i.informers.Start(i.stop)
	settle()
}

// schedule starts the scheduling cycles.
func (i *instance) schedule() {
	stir()
	scheduler.NewFromConfig(i.config).Run()
}

// snapshot is what the scheduling cycle works on, or the last one has worked on.
func (i *instance) snapshot() map[string]*schedulercache.NodeInfo {
	return path(i.config.Algorithm, "cachedNodeInfoMap").Interface().(map[string]*schedulercache.NodeInfo)
}

// claimOf: there are no claims.
func (i *instance) claimOf(*actor, point) string { return "" }
