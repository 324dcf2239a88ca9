package podrace

// table says for each step of the model who takes it, and where that actor stands when it is over: just after its effect. What lies between
// that and the next effect belongs to the next step.
var table = map[string]func(*player, Step) error{
	"scheduler.pop":                          pop,
	"scheduler.skip":                         skip,
	"scheduler.take_snapshot":                takeSnapshot,
	"scheduler.list_tree":                    listTree,
	"scheduler.filter":                       work,
	"scheduler.fail":                         fail,
	"scheduler.reread_preemptor":             reread,
	"scheduler.dry_run":                      work,
	"scheduler.choose_candidate":             choose,
	"scheduler.write_nomination":             writeNomination,
	"scheduler.evict":                        evict,
	"scheduler.clear_lower_nomination":       clearNomination(succeeds, "lower"),
	"scheduler.fail_to_clear_nomination":     clearNomination(fails, "lower"),
	"scheduler.clear_own_nomination":         clearNomination(succeeds, "pod"),
	"scheduler.fail_to_clear_own_nomination": clearNomination(fails, "pod"),
	"scheduler.assume":                       assume,
	"scheduler.start_binding":                startBinding,

	"binding.bind":   bind,
	"binding.finish": bindingCycle("Cache.FinishBinding"),
	"binding.forget": bindingCycle("Cache.ForgetPod"),
	"binding.fail":   bindingCycle("FailureHandler"),

	"failure.check_node":  checkNode,
	"failure.remove_node": removeNode,
	"failure.patch":       patch(succeeds),
	"failure.lose_patch":  patch(fails),
	"failure.live_get":    requeue("Client.Get"),
	"failure.add_fetched": requeue("Queue.AddUnschedulableIfNotPresent"),

	"handlers.handle_for_queue":    handleForQueue,
	"handlers.update_queue":        updateQueue,
	"handlers.handle_for_cache":    handleForCache,
	"handlers.wake_queue":          wakeQueue,
	"handlers.handle_node":         handleNode,
	"handlers.wake_queue_for_node": wakeQueueForNode,
	"handlers.handle_heartbeat":    heartbeat,

	"pod_watch.store":       deliverOne(pods),
	"node_watch.store":      deliverOne(nodes),
	"pod_watch.resume":      interrupt,
	"cache.expire":          expire,
	"process.restart":       func(p *player, _ Step) error { return p.restart(false) },
	"process.change_leader": changeLeader,
	"process.land":          bindPod,
	"users.create_pod":      createPod,
	"users.create_node":     createNode,
	"users.delete_pod":      func(p *player, s Step) error { return p.cluster.Delete(s.arg("pod")) },
	"users.delete_node":     func(p *player, s Step) error { return p.cluster.Remove(nodes, s.arg("node")) },
	"users.bind_pod":        bindPod,

	"kubelet.finish_termination": removePod,
	"pod_gc.collect":             removePod,
}
