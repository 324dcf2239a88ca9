package podrace

// Names for what the actors of a cluster do, for tests that are written down move by move, such as those of `podrace reproduce --go-test`.
//
// The scheduler in these tests is kube-scheduler's own code, unchanged. Every goroutine of it that matters stops before and after each of
// its calls to the cache, the scheduling queue, the framework and the API server, and goes on only when a move says so. A move of a
// goroutine is over when its effect is there, and nobody else has moved meanwhile. Time is fake.

// A pod is named by its UID, which is its name as well unless it takes the name of a pod that is gone.

// --- users, kubelets

// CreatePod has a user create a pod of the cluster that is `CreatedLater`.
func (c *Moves) CreatePod(pod string) { c.move("users.create_pod", "pod", pod) }

// DeletePod has a user delete a pod at the API server.
func (c *Moves) DeletePod(pod string) { c.move("users.delete_pod", "pod", pod) }

// RecreatePod has a controller create a pod of the cluster, which is `CreatedLater`, under the name of one that is gone.
func (c *Moves) RecreatePod(pod string) { c.move("stateful_sets.recreate", "recreation", pod) }

// CreateNode has a node join the cluster that is `NodesCreatedLater`.
func (c *Moves) CreateNode(node string) { c.move("users.create_node", "node", node) }

// UpdateNode has the object of a node updated to one of its `NodeVersions`, or back to NODE.initial.
func (c *Moves) UpdateNode(version string) { c.move("users.update_node", "version", version) }

// UpdatePod has the object of a pod updated to one of its `PodVersions`, or back to POD.initial.
func (c *Moves) UpdatePod(version string) { c.move("users.update_pod", "version", version) }

// DeleteNode deletes a node at the API server; its pods stay.
func (c *Moves) DeleteNode(node string) { c.move("users.delete_node", "node", node) }

// SomebodyElseBinds binds a pod to a node past the scheduler.
func (c *Moves) SomebodyElseBinds(pod, node string) {
	c.move("users.bind_pod", "pod", pod, "node", node)
}

// RemoveSchedulingGates removes the scheduling gates of a pod.
func (c *Moves) RemoveSchedulingGates(pod string) { c.move("users.remove_gates", "pod", pod) }

// KubeletRemoves ends a terminating pod: its containers have stopped.
func (c *Moves) KubeletRemoves(pod string) { c.move("kubelet.finish_termination", "pod", pod) }

// KubeletRejects has the kubelet of its node reject a pod, which does not fit there: it has failed.
func (c *Moves) KubeletRejects(pod string) { c.move("kubelet.reject", "pod", pod) }

// FinalizersAreRemoved ends a pending pod that is being deleted: its controller has seen it off.
func (c *Moves) FinalizersAreRemoved(pod string) { c.move("finalizer_owners.release", "pod", pod) }

// --- the scheduling cycle

// SchedulerTries has the scheduler pop a pod, take its snapshot and run the filters for these nodes, in this order.
func (c *Moves) SchedulerTries(pod string, nodes ...string) {
	c.SchedulerPops(pod)
	c.SchedulerTakesSnapshot(pod)
	for _, node := range nodes {
		c.SchedulerFilters(pod, node)
	}
}

// SchedulerPops has the scheduler take a pod from the head of the queue.
func (c *Moves) SchedulerPops(pod string) { c.move("scheduler.pop", "pod", pod) }

// SchedulerSkips has the scheduler drop the pod that it popped: it is assumed, or being deleted.
func (c *Moves) SchedulerSkips(pod string) { c.move("scheduler.skip", "pod", pod) }

// SchedulerTakesSnapshot has the scheduler copy the cache: the attempt at the pod works on this copy.
func (c *Moves) SchedulerTakesSnapshot(pod string) { c.move("scheduler.take_snapshot", "pod", pod) }

// SchedulerFilters has the scheduler run the filters for one node.
func (c *Moves) SchedulerFilters(pod, node string) {
	c.move("scheduler.filter", "pod", pod, "node", node)
}

// SchedulerFiltersNominated has the scheduler run the filters for the node that the pod is nominated to, before all others.
func (c *Moves) SchedulerFiltersNominated(pod, node string) {
	c.move("scheduler.filter_nominated", "pod", pod, "node", node)
}

// SchedulerAssumes has the scheduler choose a node for the pod and assume it there.
func (c *Moves) SchedulerAssumes(pod, node string) {
	c.move("scheduler.assume", "pod", pod, "node", node)
}

// SchedulerStartsBinding has the scheduler start the binding cycle of the pod, and go on with the next.
func (c *Moves) SchedulerStartsBinding(pod string) { c.move("scheduler.start_binding", "pod", pod) }

// SchedulerRejects has the attempt end: the failure handler (handleSchedulingFailure) takes over.
func (c *Moves) SchedulerRejects(pod string) { c.move("scheduler.fail", "pod", pod) }

// PreemptionTries has preemption begin, and look for victims on these nodes, in this order.
func (c *Moves) PreemptionTries(pod string, nodes ...string) {
	c.PreemptionBegins(pod)
	for _, node := range nodes {
		c.PreemptionTriesNode(pod, node)
	}
}

// PreemptionBegins has PostFilter begin: it reads the pod again, and whether it may preempt.
func (c *Moves) PreemptionBegins(pod string) { c.move("scheduler.reread_preemptor", "pod", pod) }

// PreemptionTriesNode has preemption look for victims on one node.
func (c *Moves) PreemptionTriesNode(pod, node string) {
	c.move("scheduler.dry_run", "pod", pod, "node", node)
}

// PreemptionChooses has preemption choose the node on which pods are to make room.
func (c *Moves) PreemptionChooses(pod, node string) {
	c.move("scheduler.choose_candidate", "pod", pod, "node", node)
}

// --- the failure handler, handleSchedulingFailure

// FailureHandlerRuns has it do all that it does, without a break.
func (c *Moves) FailureHandlerRuns(pod string) {
	c.FailureHandlerReads(pod)
	c.FailureHandlerRequeues(pod)
	c.FailureHandlerNominates(pod)
	c.FailureHandlerPatches(pod)
}

// FailureHandlerReads has it read the pod from the lister.
func (c *Moves) FailureHandlerReads(pod string) { c.move("failure.read", "pod", pod) }

// FailureHandlerRequeues has it call AddUnschedulableIfNotPresent.
func (c *Moves) FailureHandlerRequeues(pod string) { c.move("failure.requeue", "pod", pod) }

// FailureHandlerNominates has it call AddNominatedPod.
func (c *Moves) FailureHandlerNominates(pod string) { c.move("failure.nominate", "pod", pod) }

// FailureHandlerPatches has it write the pod's condition, and its nomination, to the API server.
func (c *Moves) FailureHandlerPatches(pod string) { c.move("failure.patch", "pod", pod) }

// --- the binding cycle

// BindingCycleAnnounces has it write to the API server which node the pod is about to be bound to (NominatedNodeName).
func (c *Moves) BindingCycleAnnounces(pod string) { c.move("binding.announce", "pod", pod) }

// PreBindSucceeds has the PreBind plugins do their work.
func (c *Moves) PreBindSucceeds(pod string) { c.move("binding.pre_bind", "pod", pod, "ok", true) }

// PreBindFails has one of the PreBind plugins fail.
func (c *Moves) PreBindFails(pod string) { c.move("binding.pre_bind", "pod", pod, "ok", false) }

// Binds has the binding cycle create the Binding at the API server.
func (c *Moves) Binds(pod string) { c.move("binding.bind", "pod", pod, "reply", "ANSWERED") }

// BindsButReplyIsLost has the Binding written, and the binding cycle told that it failed.
func (c *Moves) BindsButReplyIsLost(pod string) {
	c.move("binding.bind", "pod", pod, "reply", "LOST")
}

// BindFails has the API server refuse the Binding.
func (c *Moves) BindFails(pod string) { c.move("binding.bind", "pod", pod, "reply", "FAILED") }

// BindingCycleForgets has it call ForgetPod: the pod is not going to be bound.
func (c *Moves) BindingCycleForgets(pod string) { c.move("binding.forget", "pod", pod) }

// BindingCycleWakesOthers has it move the pods that may fit now that this one is not bound.
func (c *Moves) BindingCycleWakesOthers(pod string) { c.move("binding.wake_queue", "pod", pod) }

// BindingCycleFails has it end in an error: the failure handler takes over.
func (c *Moves) BindingCycleFails(pod string) { c.move("binding.fail", "pod", pod) }

// --- the goroutine of asynchronous preemption

// PreemptionGoroutineBegins has it look which pods of lower priority are nominated to the node.
func (c *Moves) PreemptionGoroutineBegins(pod, node string) {
	c.move("async_preemption.begin", "pod", pod, "node", node)
}

// PreemptionGoroutineLeaves has it come to its last victim.
func (c *Moves) PreemptionGoroutineLeaves(pod string) { c.move("async_preemption.leave", "pod", pod) }

// PreemptionGoroutineEvicts has it delete a victim that is not the last.
func (c *Moves) PreemptionGoroutineEvicts(pod, victim string) {
	c.move("async_preemption.evict", "pod", pod, "victim", victim, "ok", true)
}

// PreemptionGoroutineFailsToEvict has the API server refuse that.
func (c *Moves) PreemptionGoroutineFailsToEvict(pod, victim string) {
	c.move("async_preemption.evict", "pod", pod, "victim", victim, "ok", false)
}

// PreemptionGoroutineEvictsLast has it delete the last victim.
func (c *Moves) PreemptionGoroutineEvictsLast(pod, victim string) {
	c.move("async_preemption.evict_last", "pod", pod, "victim", victim, "ok", true)
}

// PreemptionGoroutineFailsToEvictLast has the API server refuse that.
func (c *Moves) PreemptionGoroutineFailsToEvictLast(pod, victim string) {
	c.move("async_preemption.evict_last", "pod", pod, "victim", victim, "ok", false)
}

// PreemptionGoroutineEnds has it note that the preemption of the pod is over.
func (c *Moves) PreemptionGoroutineEnds(pod string) {
	c.move("async_preemption.leave_last", "pod", pod)
}

// PreemptionGoroutineActivates has it call Activate for the pod.
func (c *Moves) PreemptionGoroutineActivates(pod string) {
	c.move("async_preemption.activate", "pod", pod)
}

// --- calls that nobody waits for (SchedulerAsyncAPICalls)

// BindingCycleQueuesBinding has the binding cycle give the Binding to the dispatcher, and wait.
func (c *Moves) BindingCycleQueuesBinding(pod string) { c.move("binding.queue_binding", "pod", pod) }

// DispatcherTakes has the dispatcher take the patch of the pod's status from its queue, and make up what it writes.
func (c *Moves) DispatcherTakes(pod string) { c.move("api_dispatcher.execute", "pod", pod) }

// DispatcherPatches has that patch arrive at the API server.
func (c *Moves) DispatcherPatches(pod string) { c.move("api_dispatcher.patch", "pod", pod) }

// DispatcherEnds has the dispatcher be through with the call of the pod: the next one may be taken.
func (c *Moves) DispatcherEnds(pod string) { c.move("api_dispatcher.finalize", "pod", pod) }

// --- watches and event handlers

// InformerStores has the watch deliver its next event, about this pod: listers have it, and no handler has begun with it.
func (c *Moves) InformerStores(pod string) { c.move("pod_watch.store", "pod", pod) }

// WatchIsInterrupted has the watch of pods expire ("too old resource version"): the informer lists all pods.
func (c *Moves) WatchIsInterrupted() { c.move("pod_watch.resume") }

// NodeWatchIsInterrupted is the same of nodes.
func (c *Moves) NodeWatchIsInterrupted() { c.move("node_watch.resume") }

// DeliverTo has an event handler begin with its next event: the "queue handler" with an event about a pod that waits, the "cache handler"
// with one about a pod on a node (one registered handler since 1.35, and two before), the "node handler" with one about a node. It comes
// past its first call to the queue or the cache that has an effect.
func (c *Moves) DeliverTo(handler, name string) {
	switch handler {
	case "queue handler":
		c.move("handlers.handle_for_queue", "pod", name)
	case "cache handler":
		c.move("handlers.handle_for_cache", "pod", name)
	default:
		c.move("handlers.handle_node", "node", name)
	}
}

// CacheHandlerLearnsOfCondition has the handler of pods on nodes see to the event that the pod is a victim (condition DisruptionTarget), which
// comes before that of its deletion.
func (c *Moves) CacheHandlerLearnsOfCondition(pod string) {
	c.move("handlers.learn_of_condition", "pod", pod)
}

// QueueHandlerUpdates has the handler of an update call Update of the scheduling queue.
func (c *Moves) QueueHandlerUpdates(pod string) { c.move("handlers.update_queue", "pod", pod) }

// QueueHandlerLooksWhetherAssumed has the handler of a deletion ask the cache whether the pod is assumed.
func (c *Moves) QueueHandlerLooksWhetherAssumed(pod string) {
	c.move("handlers.look_whether_assumed", "pod", pod)
}

// QueueHandlerFetches has the handler of a deletion ask the cache for the pod, which it had assumed: a step of its own for a pod of a group, from 1.38 on.
func (c *Moves) QueueHandlerFetches(pod string) { c.move("handlers.fetch_assumed", "pod", pod) }

// QueueHandlerForgets has the handler of a deletion forget the assumed pod.
func (c *Moves) QueueHandlerForgets(pod string) { c.move("handlers.forget_assumed", "pod", pod) }

// QueueHandlerWakesOthers has the handler move the pods that may fit now that room is no longer kept for this one.
func (c *Moves) QueueHandlerWakesOthers(pod string) {
	c.move("handlers.wake_queue_for_room", "pod", pod)
}

// CacheHandlerWakesOthers has the handler of a pod on a node move the pods that may fit because of the event; of an update, because of one
// kind of change, if there are several.
func (c *Moves) CacheHandlerWakesOthers(pod string) { c.move("handlers.wake_queue", "pod", pod) }

// NodeHandlerRemovesFromCache has the handler of a removed node call RemoveNode of the cache.
func (c *Moves) NodeHandlerRemovesFromCache(node string) {
	c.move("handlers.remove_node", "node", node)
}

// NodeHandlerWakesPods has the handler of a node move the pods that may fit because of it.
func (c *Moves) NodeHandlerWakesPods(node string) {
	c.move("handlers.wake_queue_for_node", "node", node)
}

// NodeHandlerTellsChange has the handler of an updated node move the pods that may fit because of one kind of change.
func (c *Moves) NodeHandlerTellsChange(version, change string) {
	c.move("updates.wake_queue", "version", version, "kind", change)
}

// --- timers

// BackoffEnds has the pod leave backoffQ for activeQ: its backoff is over.
func (c *Moves) BackoffEnds(pod string) { c.move("queue.flush_backoff", "pod", pod) }

// FlushLeftover has the pod leave unschedulablePods because it has been there for five minutes.
func (c *Moves) FlushLeftover(pod string) { c.move("queue.flush_unschedulable", "pod", pod) }

// AssumptionExpires has the cache drop an assumed pod whose binding is long finished.
func (c *Moves) AssumptionExpires(pod string) { c.move("cache.expire", "pod", pod) }

// Step makes a move that has no name here. Arguments come in pairs: their names and values.
func (c *Moves) Step(name string, arguments ...any) { c.move(name, arguments...) }
