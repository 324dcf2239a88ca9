"""A stack without locks, for the benchmarks: R. K. Treiber's (IBM, 1986), whose top is changed by compare-and-swap, with a tag against ABA.

Threads take nodes from the stack and put them back. The tag counts the changes of the top, and begins anew after TAGS of them: so a thread that
sleeps for as many takes an old top for the present one, and two threads have one node.
"""

from enum import Enum
from itertools import pairwise

from podrace.model.language import (
    Entity,
    System,
    TransitionSystem,
    Value,
    count,
    enum,
    integer,
    invariant,
    per,
    ref,
    require,
    step,
    system_of,
    when,
    witness,
)

TAGS = 4


class Node(Entity):
    members = 2


class Thread(Entity):
    members = 3


class At(Enum):
    IDLE = 0
    TO_LINK = 1
    TO_PUSH = 2
    TO_FOLLOW = 3
    TO_POP = 4


class Stack(System):
    top = ref(Node)
    tag = integer(0, TAGS - 1)
    below = per(Node, ref(Node))
    at = per(Thread, enum(At))
    mine = per(Thread, ref(Node))
    seen = per(Thread, ref(Node))
    seen_tag = per(Thread, integer(0, TAGS - 1))
    then = per(Thread, ref(Node))

    def setup(self) -> None:
        """All nodes lie on the stack."""
        nodes = self.universe[Node]
        self.top = nodes[0]
        for upper, lower in pairwise(nodes):
            self.below[upper] = lower

    def look(self, who: Thread) -> None:
        """Note the top, with its tag."""
        self.seen[who] = self.top
        self.seen_tag[who] = self.tag

    def unchanged(self, who: Thread) -> Value:
        """What the compare-and-swap compares."""
        return (self.top == self.seen[who]) & (self.tag == self.seen_tag[who])

    def forget(self, who: Thread) -> None:
        """Be done, or begin anew."""
        self.seen[who] = None
        self.seen_tag[who] = 0
        self.then[who] = None
        self.at[who] = At.IDLE

    @step(actor="thread", each="who")
    def begin_pop(self, who: Thread) -> None:
        require((self.at[who] == At.IDLE) & self.mine[who].is_none & self.top.is_some)
        self.look(who)
        self.at[who] = At.TO_FOLLOW

    @step(actor="thread", each="who")
    def follow(self, who: Thread) -> None:
        require(self.at[who] == At.TO_FOLLOW)
        self.then[who] = self.below[self.seen[who]]
        self.at[who] = At.TO_POP

    @step(actor="thread", each="who")
    def pop(self, who: Thread) -> None:
        require(self.at[who] == At.TO_POP)
        with when(self.unchanged(who)):
            self.top = self.then[who]
            self.tag = (self.tag + 1) % TAGS
            self.mine[who] = self.seen[who]
        self.forget(who)

    @step(actor="thread", each="who")
    def begin_push(self, who: Thread) -> None:
        require((self.at[who] == At.IDLE) & self.mine[who].is_some)
        self.look(who)
        self.at[who] = At.TO_LINK

    @step(actor="thread", each="who")
    def link(self, who: Thread) -> None:
        require(self.at[who] == At.TO_LINK)
        self.below[self.mine[who]] = self.seen[who]
        self.at[who] = At.TO_PUSH

    @step(actor="thread", each="who")
    def push(self, who: Thread) -> None:
        require(self.at[who] == At.TO_PUSH)
        with when(self.unchanged(who)):
            self.top = self.mine[who]
            self.tag = (self.tag + 1) % TAGS
            self.mine[who] = None
        self.forget(who)

    @invariant
    def one_owner(self, node: Node) -> Value:
        """No node belongs to two threads."""
        return count(self.mine[t] == node for t in self.universe[Thread]) <= 1

    @witness
    def empty(self) -> Value:
        return self.top.is_none


def stack() -> TransitionSystem:
    """Three threads, two nodes and tags of two bits: 2,629,656 states."""
    return system_of(Stack)
