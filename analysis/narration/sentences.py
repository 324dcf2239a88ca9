"""How a counterexample is told: a sentence for every step of the model, as somebody would write it in an issue.

Only words: what a step does is in the model. The tests hold every sentence to a step that some release has, and every
step to a sentence.
"""

from __future__ import annotations

from ...reports.vocabulary import Sentence

_VERDICT = r"scheduler\.verdict\[.*\]: .* -> "

SENTENCES = (
    # The scheduling cycle.
    Sentence(r"scheduler\.pop", "The scheduler takes {pod} from the head of activeQ."),
    Sentence(r"scheduler\.skip", "The scheduler leaves {pod} alone: it needs no scheduling any more."),
    Sentence(r"scheduler\.list_nodes", "The scheduler asks the node lister which nodes there are to try for {pod}."),
    Sentence(
        r"scheduler\.take_snapshot",
        "The scheduler takes its snapshot of the cache. The rest of the cycle for {pod} relies on it.",
    ),
    Sentence(r"scheduler\.filter.*", "The filters pass: {pod} fits on {node}.", _VERDICT + "FEASIBLE"),
    Sentence(r"scheduler\.filter.*", "The filters fail: {pod} does not fit on {node}.", _VERDICT + "REJECTED"),
    Sentence(
        r"scheduler\.filter.*",
        "The filters fail: {pod} can never fit on {node}, whoever is evicted.",
        _VERDICT + "UNRESOLVABLE",
    ),
    Sentence(r"scheduler\.filter.*", "The filters are run for {pod} on {node}."),
    Sentence(
        r"scheduler\.assume",
        "The scheduler assumes {pod} on {node}: in its cache the pod is there already.",
        r"cache\.pod\[.*\]\.assumed: false -> true",
    ),
    Sentence(r"scheduler\.assume", "The scheduler tries to assume {pod} on {node}, and the cache refuses."),
    Sentence(r"(scheduler|binding)\.permit", "The Permit plugins answer about {pod}: {answer}."),
    Sentence(r"scheduler\.start_binding", "The scheduler starts a binding goroutine for {pod} and goes on."),
    Sentence(r"scheduler\.forget", "The scheduler forgets {pod}: the cache has it on no node any more."),
    Sentence(r"scheduler\.fail", "The attempt to schedule {pod} has failed; the failure handler takes over."),
    Sentence(r"scheduler\.reserve(_first)?", "The Reserve plugins run for {pod}."),
    # Preemption.
    Sentence(
        r"scheduler\.reread_preemptor", "Preemption for {pod} begins: the scheduler reads the pod again, and it may preempt.",
        r"scheduler\.phase: .* -> (?!IDLE)",
    ),
    Sentence(r"scheduler\.reread_preemptor", "Preemption for {pod} begins, and ends at once: the pod is gone, or may not preempt."),
    Sentence(
        r"scheduler\.dry_run", "Preemption could make room for {pod} on {node} by evicting {victim}.",
        r"preemption\.victim\[(?P<victim>[^\]]+)\]: false -> true",
    ),
    Sentence(
        r"scheduler\.dry_run", "Preemption could make {pod} fit on {node}, and would evict nobody.",
        _VERDICT + "CANDIDATE",
    ),
    Sentence(r"scheduler\.dry_run", "Preemption on {node} would not help {pod}."),
    Sentence(
        r"scheduler\.choose_candidate", "Preemption decides: {pod} is to go to {node}.",
    ),
    Sentence(
        r"scheduler\.nominate", "The scheduler notes in its own memory, the nominator, that {pod} is nominated to {after}.",
        r"nominator\.node\[.*\]: .* -> (?P<after>(?!none).*)",
    ),
    Sentence(r"scheduler\.nominate", "The scheduler updates the nominator about {pod}, which changes nothing there."),
    Sentence(
        r"scheduler\.write_nomination", "The scheduler writes to the API server that {pod} is nominated to {after}.",
        r"api\.pod\[.*\]\.nominated: .* -> (?P<after>(?!none).*)",
    ),
    Sentence(r"scheduler\.write_nomination", "The scheduler sends {pod}'s nomination to the API server, which has no effect there."),
    Sentence(r"scheduler\.roll_back", "The write has failed: the scheduler takes {pod}'s nomination out of its memory again."),
    Sentence(
        r"scheduler\.evict", "The scheduler evicts {victim} for {pod}: the API server deletes it.",
        r"api\.pod\[.*\]\.exists: true -> false",
    ),
    Sentence(
        r"scheduler\.evict", "The scheduler evicts {victim} for {pod}: the API server sets its deletion timestamp.",
        r"api\.pod\[.*\]\.terminating: false -> true",
    ),
    Sentence(r"scheduler\.evict", "The scheduler sends a DELETE for {victim}, which has no effect."),
    Sentence(r"scheduler\.reject_waiting", "The scheduler rejects the victim {victim}, if it waits for permission."),
    Sentence(
        r"scheduler\.clear_lower_nomination", "The scheduler withdraws, at the API server, the nomination of {other}, which has a lower priority.",
    ),
    Sentence(
        r"scheduler\.clear_own_nomination", "No eviction would help: the scheduler withdraws {pod}'s own nomination at the API server.",
    ),
    # Asynchronous preemption.
    Sentence(r"async_preemption\.begin", "A goroutine begins to make room for {pod} on {node}."),
    Sentence(
        r"async_preemption\.clear_nomination",
        "The goroutine withdraws, at the API server, the nomination of {other}, which has a lower priority than {pod}.",
    ),
    Sentence(
        r"async_preemption\.evict(_last)?", "The goroutine evicts {victim} for {pod}: the API server deletes it.",
        r"api\.pod\[.*\]\.exists: true -> false",
    ),
    Sentence(
        r"async_preemption\.evict(_last)?", "The goroutine evicts {victim} for {pod}: the API server sets its deletion timestamp.",
        r"api\.pod\[.*\]\.terminating: false -> true",
    ),
    Sentence(r"async_preemption\.evict(_last)?", "The goroutine tries to evict {victim} for {pod}, which has no effect at the API server."),
    Sentence(r"async_preemption\.leave", "Of the victims for {pod} only the last is left."),
    Sentence(r"async_preemption\.leave_last", "Preemption for {pod} no longer runs."),
    Sentence(r"async_preemption\.activate", "The goroutine asks the queue to try {pod} again."),
    # Binding.
    Sentence(r"binding\.wake_queue", "{pod} was not bound, so the queue lets parked pods try again: there may be room for them."),
    Sentence(
        r"binding\.bind", "The binding goroutine binds {pod}: the API server has it on {after}.",
        r"api\.pod\[.*\]\.node: .* -> (?P<after>.*)",
    ),
    Sentence(r"binding\.bind", "The binding goroutine asks the API server to bind {pod}, in vain."),
    Sentence(r"binding\.fail", "Binding {pod} has failed; the failure handler takes over."),
    Sentence(r"binding\.finish", "The binding goroutine reports to the cache that the binding of {pod} is over."),
    Sentence(r"binding\.forget", "The binding goroutine makes the cache forget {pod}."),
    Sentence(r"binding\.wait_on_permit", "The binding goroutine of {pod} stops waiting for permission."),
    Sentence(r"binding\.pre_bind", "The PreBind plugins run for {pod}."),
    Sentence(r"waiting\.listen", "The binding goroutine of {pod} begins to listen for the Permit plugins."),
    Sentence(r"waiting\.permit", "The Permit plugin lets {pod} go on."),
    Sentence(r"waiting\.time_out", "{pod} has waited for permission for too long, and is rejected."),
    Sentence(r"waiting\.refuse", "The Permit plugin rejects {pod}."),
    # Failure handling.
    Sentence(r"failure\.check_node", "The failure handler asks the API server whether {node} exists."),
    Sentence(r"failure\.remove_node", "The failure handler removes {node} from the cache."),
    Sentence(
        r"failure\.nominate", "The failure handler notes in the nominator that {pod} is nominated to {after}.",
        r"nominator\.node\[.*\]: .* -> (?P<after>(?!none).*)",
    ),
    Sentence(r"failure\.nominate", "The failure handler updates the nominator about {pod}: there is no nomination."),
    Sentence(
        r"failure\.patch", "The failure handler writes to the API server that {pod} could not be scheduled.",
        r"api\.pod\[.*\]",
    ),
    Sentence(r"failure\.patch", "The failure handler writes {pod}'s condition to the API server, which changes nothing there."),
    Sentence(r"failure\.wake_others", "{pod} was rejected after it had room, so the other parked pods may try again."),
    Sentence(r"failure\.read", "The failure handler reads {pod} from the lister."),
    Sentence(
        r"failure\.requeue", "The failure handler puts {pod} back into {after}.",
        r"queue\.sub_queue\[.*\]: NONE -> (?P<after>.*)",
    ),
    Sentence(r"failure\.requeue", "The failure handler does not put {pod} back: it is queued already, or gone."),
    Sentence(r"failure\.live_get", "The requeue goroutine reads {pod} from the API server, as it is at this moment."),
    Sentence(
        r"failure\.add_fetched", "The requeue goroutine puts {pod} into the queue as it was when it was read, which wipes its nomination from the nominator.",
        r"nominator\.node\[.*\]: .* -> none",
    ),
    Sentence(
        r"failure\.add_fetched", "The requeue goroutine puts {pod} into {after}, as it was when it was read.",
        r"queue\.sub_queue\[.*\]: NONE -> (?P<after>.*)",
    ),
    Sentence(r"failure\.add_fetched", "The requeue goroutine does not queue {pod}: it is queued already."),
    # Queue and cache on their own.
    Sentence(r"queue\.flush_backoff", "The backoff of {pod} is over: it moves to activeQ."),
    Sentence(r"queue\.flush_unschedulable", "{pod} has been parked for so long that the periodic flush moves it."),
    Sentence(r"cache\.expire", "The cache waits for {pod} no longer: the assumed pod expires."),
    # Watches and handlers.
    Sentence(r"pod_watch\.store", "The informer's store receives the next event, about {pod}: listers see it from now on."),
    Sentence(r"node_watch\.store", "The informer's store receives the next event, about node {node}."),
    Sentence(r"handlers\.handle_for_queue", "The watch delivers an event about {pod} to the queue's handler."),
    Sentence(
        r"handlers\.update_queue", "The queue's handler updates {pod}, and wipes its nomination to {before} from the nominator.",
        r"nominator\.node\[.*\]: (?P<before>.*) -> none",
    ),
    Sentence(
        r"handlers\.update_queue", "The queue's handler updates {pod}: now the nominator knows of its nomination to {after}.",
        r"nominator\.node\[.*\]: none -> (?P<after>.*)",
    ),
    Sentence(r"handlers\.update_queue", "The queue's handler updates {pod} in the queue, and the nominator with it."),
    Sentence(r"handlers\.look_whether_assumed", "{pod} is gone: the queue's handler looks whether the cache has it assumed."),
    Sentence(r"handlers\.forget_assumed", "The queue's handler makes the cache forget {pod}, which is gone, although its binding goroutine still runs."),
    Sentence(r"handlers\.reject_waiting", "The queue's handler rejects {pod}, if it waits for permission."),
    Sentence(
        r"handlers\.handle_for_cache", "The watch delivers to the cache's handler that {pod} is gone: its room on {before} is free in the cache.",
        r"cache\.pod\[.*\]\.node: (?P<before>.*) -> none",
    ),
    Sentence(r"handlers\.handle_for_cache", "The watch delivers an event about {pod} to the cache's handler."),
    Sentence(r"handlers\.wake_queue", "The cache's handler wakes parked pods, because of {pod}."),
    Sentence(r"handlers\.wake_queue_for_room", "Room was kept for {pod}, and it is free now: the queue's handler wakes parked pods."),
    Sentence(r"handlers\.wake_queue_for_node", "The node handler wakes parked pods, because of node {node}."),
    Sentence(r"handlers\.handle_heartbeat", "A status update of node {node} moves all parked pods."),
    Sentence(
        r"handlers\.handle_node", "The watch delivers to the node handler that node {node} is gone; the cache follows.",
        r"cache\.live\[.*\]: true -> false",
    ),
    Sentence(
        r"handlers\.handle_node", "The watch delivers to the node handler that node {node} is there; the cache follows.",
        r"cache\.live\[.*\]: false -> true",
    ),
    Sentence(r"handlers\.handle_node", "The watch delivers an event about node {node} to the node handler."),
    # Everybody else.
    Sentence(r"kubelet\.finish_termination", "The containers of {pod} have stopped: the kubelet removes the object."),
    Sentence(r"pod_gc\.collect", "The pod garbage collector removes {pod}, whose node is gone."),
    Sentence(r"users\.create_pod", "A user creates {pod}."),
    Sentence(r"users\.delete_pod", "A user deletes {pod}."),
    Sentence(r"users\.bind_pod", "Somebody else than the scheduler binds {pod} to {node}."),
    Sentence(r"process\.restart", "The scheduler is restarted: its memory is gone, and it lists everything anew."),
    Sentence(r"process\.change_leader", "A standby takes over: it knows only what its informers have shown it."),
    Sentence(r"process\.land", "The binding of {pod} to {node}, sent by an earlier leader, is executed."),
    Sentence(r"pod_watch\.resume", "The pod watch was interrupted: the informer sees only what came of the missed events."),
    Sentence(r"failure\.requeue_too_soon", "{pod} comes back to the queue, and Pop drops it at once, because it is still in flight: it is in no queue any more."),
    Sentence(r"users\.remove_gates", "The scheduling gates of {pod} are removed."),
    Sentence(r"users\.create_node", "Node {node} joins the cluster."),
    Sentence(r"users\.delete_node", "Node {node} is deleted."),
)  # fmt: skip

FACTS = {
    "exists": ("exists", "gone"),
    "node": ("on {value}", "on no node"),
    "nominated": ("nominated to {value}", "not nominated"),
    "assumed": ("assumed", ""),
    "failed": ("PodScheduled=False", ""),
    "terminating": ("being deleted", ""),
    "gated": ("gated", ""),
    "sub_queue": ("in {value}", "in no queue"),
    "victim": ("victim", ""),
    "verdict": ("{value} it", ""),
    "pod": ("busy with {value}", "busy with no pod"),
    "host": ("host {value}", ""),
    "nominee": ("decided for {value}", ""),
    "error": ("in error", ""),
    "permit": ("{value}", ""),
}
"""What a view says of a pod or a node: if it is so, and if it is not."""
