"""kube-scheduler, divided as upstream divides it. A proposed patch is a subclass of one of these classes, and says what it needs of
their words: phases, codes, sub-queues, plugins, events.
"""

from .api_dispatcher import APIDispatcher
from .cache.incremental import IncrementalSnapshot
from .cache.node_info import NodeInfos
from .cache.node_tree import NodeTree
from .cache.scheduler_cache import Cache
from .cache.snapshot import Snapshot
from .cycles.binding import Binding, BindingPhase
from .cycles.failure import FailureHandler, FailurePhase
from .cycles.sampling import Sampling
from .cycles.schedule_one import Scheduler
from .dynamicresources.assume_cache import AssumeCache
from .dynamicresources.claim_tracker import ClaimTracker
from .dynamicresources.dynamic_resources import DynamicResources
from .dynamicresources.slice_informer import SliceInformer
from .event_handlers import EventHandlers, Waking
from .framework.events import Action, ClusterEvent, NodeUpdate, Plugin, PodUpdate
from .framework.filters import Filters
from .framework.hints import Hints
from .framework.placement import Placement
from .framework.resource_scores import ResourceScores
from .framework.scores import Scores
from .framework.spread_scores import SpreadScores
from .framework.status import Code, NodeStatus, Phase
from .framework.waiting_pods import WaitingPods
from .node_updates import NodeUpdates
from .pod_updates import PodUpdates
from .podgroups.gang_scheduling import GangScheduling
from .podgroups.group_state import PodGroupStates
from .podgroups.pod_group_cycle import PodGroupCycle
from .preemption.async_preemption import AsyncPhase, AsyncPreemption
from .preemption.evaluator import Preemption
from .process import Process
from .queue.clock import Clock
from .queue.nominator import Nominator
from .queue.scheduling_queue import PriorityQueue, SubQueue
from .queue.without_hints import QueueWithoutHints
from .volumebinding.assume_cache import VolumeCache
from .volumebinding.csi_informers import CsiInformers
from .volumebinding.volume_binding import VolumeBinding

__all__ = [
    "APIDispatcher", "Action", "AssumeCache", "AsyncPhase", "AsyncPreemption", "Binding", "BindingPhase", "Cache", "ClaimTracker", "Clock", "ClusterEvent", "Code", "CsiInformers", "DynamicResources", "EventHandlers",
    "FailureHandler", "FailurePhase", "Filters", "GangScheduling", "Hints", "IncrementalSnapshot", "NodeInfos", "NodeStatus", "NodeTree", "NodeUpdate", "NodeUpdates", "Nominator",
    "Phase", "Placement", "Plugin", "PodGroupCycle", "PodGroupStates", "PodUpdate", "PodUpdates", "Preemption", "PriorityQueue", "Process", "QueueWithoutHints", "ResourceScores", "Sampling", "Scheduler", "Scores",
    "SliceInformer", "Snapshot", "SpreadScores", "SubQueue", "VolumeBinding", "VolumeCache", "WaitingPods", "Waking",
]  # fmt: skip
