"""What decides where pods may go: taints, tolerations, affinity, topology spread, selectors, host ports."""

from ..values.labels import OF_LABELS
from .kinds import LABEL_KEY, LABEL_VALUE, LABELS, NAME, Kind, list_of, one_of, refers, table_of, text, whole
from .table import Field, Table

EFFECT = one_of(("NoSchedule", "PreferNoSchedule", "NoExecute"), "an effect")
INCLUSION = one_of(("Honor", "Ignore"), "a policy")
MAX_PORT = 65535
PORT, SKEW, WEIGHT, MAX_SECONDS = whole(1, MAX_PORT), whole(1, 1 << 31), whole(1, 100, "1 to 100"), 1 << 31
COUNT = whole(0, 1_000_000)
OTHERS = table_of("values of the key to whole numbers", COUNT.schema)

# fmt: off
TAINTS = Table("`taints`", "taint", [
    Field("key", LABEL_KEY, "required", "the taint's key", missing="a taint needs `key` and `effect`"),
    Field("value", LABEL_VALUE, "empty", "its value"),
    Field("effect", EFFECT, "required", "PreferNoSchedule has an effect only with `scored`", missing="a taint needs `key` and `effect`"),
])

TOLERATIONS = Table("`tolerations`", "toleration", [
    Field("key", LABEL_KEY, "every key", "the key of the tolerated taint; required unless the operator is Exists"),
    Field("operator", one_of(("Equal", "Exists"), "an operator"), "Equal", "Exists tolerates every value"),
    Field("value", LABEL_VALUE, "empty", "the value of the tolerated taint, for the operator Equal"),
    Field("effect", EFFECT, "every effect", "the effect that is tolerated"),
    Field("tolerationSeconds", whole(0, MAX_SECONDS), "indefinitely", "with NoExecute only: how long the pod may stay on a node with such a taint (`taint_eviction`). The number does not matter: the time can be over at any later moment"),
])

PORTS = Table("`hostPorts`", "hostPort", [
    Field("port", PORT, "required", "the port, 1 to 65535"),
    Field("protocol", one_of(("TCP", "UDP", "SCTP"), "a protocol"), "TCP", "its protocol"),
    Field("hostIP", text("address"), "0.0.0.0", "the address of the node at which the port is used. 0.0.0.0, or no value, means all addresses, and conflicts with each address. Up to 1.8, the scheduler compares only port numbers"),
])

NODE_AFFINITY = Table("`nodeAffinity`", "nodeAffinity", [
    Field("required", refers("node selector", "nodeSelector"), "required", "short for `requiredDuringSchedulingIgnoredDuringExecution`", needed=False),
    Field("preferred", list_of("list of terms", refers("", "preferredNodes")), "none", "short for `preferredDuringSchedulingIgnoredDuringExecution`"),
    Field("requiredDuringSchedulingIgnoredDuringExecution", refers("node selector", "nodeSelector"), "required", "the nodes on which the pod can run", needed=False),
    Field("preferredDuringSchedulingIgnoredDuringExecution", list_of("list of terms", refers("", "preferredNodes")), "none", "the nodes that the pod prefers; only with `scored`"),
])

NODE_SELECTORS = Table("Node selectors", "nodeSelector", [
    Field("nodeSelectorTerms", list_of("list of terms", refers("", "nodeSelectorTerm"), 1), "required", "one of the terms must match", missing="give a list of terms, of which one must match"),
])

NODE_TERMS = Table("Node selector terms", "nodeSelectorTerm", [
    Field("matchExpressions", list_of("list of requirements", refers("", "nodeRequirement")), "none", "the node's labels must meet all of them; operators In, NotIn, Exists, DoesNotExist, Gt, Lt"),
    Field("matchFields", list_of("list of requirements", refers("", "nodeField")), "none", "the node must meet all of these requirements; the key is metadata.name, the operator In or NotIn, with one value"),
])

SPREAD = Table("`topologySpreadConstraints`", "topologySpreadConstraint", [
    Field("maxSkew", SKEW, "required", "how many more pods a domain can have than the domain with the fewest pods", missing="a constraint needs `maxSkew` and `topologyKey`"),
    Field("topologyKey", LABEL_KEY, "required", "the node label whose value makes a domain", missing="a constraint needs `maxSkew` and `topologyKey`"),
    Field("whenUnsatisfiable", one_of(("DoNotSchedule", "ScheduleAnyway"), "an action"), "DoNotSchedule", "ScheduleAnyway: the constraint is soft, and only affects scores; only with `scored`. A pod can have at most three such constraints"),
    Field("labelSelector", refers("label selector", "labelSelector"), "required, unless its fields are given", "selects the pods that are counted, in the pod's namespace. From 1.27 on, only nominated pods are counted if the selector is empty"),
    Field("matchLabels", LABELS, "none", "short for the same field of `labelSelector`"),
    Field("matchExpressions", list_of("list of requirements", refers("", "requirement")), "none", "short for the same field of `labelSelector`"),
    Field("others", OTHERS, "none", "for each domain, the number of its pods that are not in this file; this number never changes"),
    Field("minDomains", SKEW, "1", "if there are fewer domains, the smallest number of pods in a domain counts as 0 (from 1.27 on); not with ScheduleAnyway"),
    Field("nodeAffinityPolicy", INCLUSION, "Honor", "Honor: only nodes that the pod's `nodeSelector` and `nodeAffinity` admit are counted; Ignore: all nodes (from 1.26 on)"),
    Field("nodeTaintsPolicy", INCLUSION, "Ignore", "Honor: only nodes whose taints the pod tolerates are counted (from 1.26 on)"),
    Field("matchLabelKeys", list_of("list of label keys", LABEL_KEY), "none", "only pods with the same values of these labels are counted"),
])

POD_AFFINITY = Table("`podAffinity` and `podAntiAffinity`", "podAffinity", [
    Field("required", list_of("list of terms", refers("", "podAffinityTerm")), "none", "short for `requiredDuringSchedulingIgnoredDuringExecution`"),
    Field("preferred", list_of("list of terms", refers("", "weightedTerm")), "none", "short for `preferredDuringSchedulingIgnoredDuringExecution`"),
    Field("requiredDuringSchedulingIgnoredDuringExecution", list_of("list of terms", refers("", "podAffinityTerm")), "none", "terms that a node must meet"),
    Field("preferredDuringSchedulingIgnoredDuringExecution", list_of("list of terms", refers("", "weightedTerm")), "none", "terms that affect scores, see [`config`](#config)"),
])

POD_TERMS = Table("Pod affinity terms", "weightedTerm", [
    Field("weight", WEIGHT, "1", "the weight of a preferred term; not for required terms"),
    Field("podAffinityTerm", refers("term", "podAffinityTerm"), "none", "preferred terms only: all fields except `weight` can be fields of `podAffinityTerm`, as in Kubernetes"),
    Field("topologyKey", Kind("label key", {"type": "string"}), "required", "the node label whose value makes a domain", needed=False),
    Field("labelSelector", refers("label selector", "labelSelector"), "required", "the labels of the selected pods; `{}` means all pods", needed=False),
    Field("matchLabels", LABELS, "none", "short for the same field of `labelSelector`"),
    Field("matchExpressions", list_of("list of requirements", refers("", "requirement")), "none", "short for the same field of `labelSelector`"),
    Field("namespaces", list_of("list of names", NAME), "that of the pod", "the namespaces of the selected pods"),
    Field("namespaceSelector", refers("label selector", "labelSelector"), "none", "further namespaces, selected by their labels; `{}` means all namespaces"),
])

SELECTORS = Table("Label selectors", "labelSelector", [
    Field("matchLabels", LABELS, "none", "labels that a selected object must have"),
    Field("matchExpressions", list_of("list of requirements", refers("", "requirement")), "none", "requirements that a selected object's labels must meet; operators In, NotIn, Exists, DoesNotExist"),
])

REQUIREMENTS = Table("Requirements", "requirement", [
    Field("key", LABEL_KEY, "required", "the label that is compared", missing="a requirement needs `key` and `operator`"),
    Field("operator", one_of([o.value for o in OF_LABELS], "an operator", "word"), "required", "In, NotIn, Exists or DoesNotExist; in node affinity also Gt and Lt", missing="a requirement needs `key` and `operator`"),
    Field("values", list_of("list of label values", LABEL_VALUE), "none", "In and NotIn need at least one value, Gt and Lt one number without a sign. The other operators have no values"),
])
