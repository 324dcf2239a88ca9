"""The names of the properties in words, by what they are about."""

from __future__ import annotations

from collections.abc import Mapping

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Room on nodes": {
        "S-CAP": "no node is overbooked",
        "S-PORT": "no host port is given twice",
        "S-RUN": "running pods fit their node",
        "S-ADMIT": "no kubelet rejects a pod",
        "S-SUIT": "a pod is placed where it may be",
        "S-AFF": "anti-affinity is kept",
        "S-SPREAD": "topology spread is kept",
    },
    "Preemption and nominations": {
        "S-NOM": "nominated room stays reserved",
        "S-NOMVIS": "room is reserved until the nomination is known",
        "S-NOMLIVE": "nominated pods exist",
        "S-GAIN": "no preemption without benefit",
        "S-ONCE": "one preemption at a time",
        "S-PDB": "preemption respects budgets",
        "S-EVICT": "evictions respect budgets",
        "S-DRAIN": "unhealthy pods can be evicted",
        "L-NOM": "no nomination blocks others indefinitely",
        "L-OVER": "preemption ends",
        "L-INV": "no lasting priority inversion",
    },
    "The queue": {
        "S-CONS": "no pending pod is lost",
        "S-UNIQ": "a pod is in one place",
        "S-CYCLE": "a pod in the cycle is not queued",
        "S-GHOST": "no deleted pod is queued",
        "S-BACKOFF": "backoff is respected",
        "S-FLIGHT": "pods in flight are being worked on",
        "S-FRESH": "queued pods are up to date",
        "S-REQUEUE": "only pending pods are requeued",
    },
    "The cache and bindings": {
        "S-LEAK": "nothing is left of deleted pods",
        "S-ROOM": "a deleted pod frees its room",
        "S-CACHE": "the cache follows node events",
        "S-SNAP": "the snapshot is the cache",
        "S-BIND": "pods are bound where they were assumed",
        "S-ERR": "no error because of an absent node",
        "S-EXIT": "the scheduler does not crash",
    },
    "Waiting": {
        "S-STUCK": "no pod that fits is left waiting",
        "S-DEFER": "deferred resizes block nobody",
        "S-LINGER": "finished pods block nobody",
        "S-QUOTA": "quota is not held back by gated pods",
        "L-ISO": "pods of removed nodes do no harm",
        "L-PEND": "pending pods are scheduled in the end",
        "L-WAKE": "parked pods are woken",
        "L-PLACE": "pods that could be placed can still be",
        "L-PROG": "every attempt ends",
    },
    "Status and names": {
        "S-COND": "bound pods do not say unschedulable",
        "S-TOLD": "rejected pods say so",
        "S-IDENT": "a binding hits the pod it was made for",
        "S-IDVICTIM": "preemption evicts the victim it chose",
        "S-IDEVICT": "an eviction hits the pod it was granted for",
        "S-IDSTATUS": "a status hits the pod it was written for",
        "S-TWIN": "no two pods of one name run",
    },
    "Controllers, autoscalers and taints": {
        "S-SCALE": "only empty nodes are removed",
        "S-MANY": "no owner has too many pods",
        "S-TAINT": "only pods on tainted nodes are evicted",
        "S-BACK": "nobody is evicted from a ready node",
        "S-READY": "nobody is bound before a node is ready",
        "S-IDTAINT": "taint eviction hits the pod it chose",
        "S-KEPT": "taint eviction keeps nothing of deleted pods",
        "S-LEAVE": "pods leave tainted nodes",
        "L-LOOP": "no replacement indefinitely",
    },
    "Claims and volumes": {
        "S-DEV": "no device is given twice",
        "S-RESV": "bound pods hold their claims",
        "S-INFLIGHT": "allocations in flight have owners",
        "S-ASSUME": "the assume cache does not go back",
        "S-VOL": "pods reach their volumes",
        "S-PV": "no volume has two claims",
        "S-PLACED": "pods get the volumes they were placed by",
        "S-HELD": "assumed volumes are kept",
        "S-WRITTEN": "written volumes are not forgotten",
        "S-RWOP": "exclusive claims have one pod",
        "S-DTAINT": "tolerations of device taints are heeded",
        "L-CLAIM": "pods with claims are scheduled in the end",
        "L-DTAINT": "tainted devices are left",
        "L-VOL": "pods with volumes are scheduled in the end",
    },
    "Groups of pods": {
        "S-QUORUM": "no gang is bound before enough pods have a place",
        "S-GROUPSTATE": "group states are right",
        "S-NOMGROUP": "a group's nominated room stays reserved",
        "L-WHOLE": "no gang stays half bound",
        "L-GANG": "gangs are scheduled in the end",
        "L-DEADLOCK": "gangs do not deadlock",
        "L-LIVELOCK": "gangs do not livelock",
    },
}
"""Group, code, and the name of the property, which says what is so where it holds."""

TITLES: Mapping[str, str] = {code: title for group in GROUPS.values() for code, title in group.items()}
GROUP_OF: Mapping[str, str] = {code: group for group, titles in GROUPS.items() for code in titles}
