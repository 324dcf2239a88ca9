"""A real control plane on loopback, and races that are made to happen on it: where the audit logs of the tests come from.

etcd, kube-apiserver and kube-scheduler are built by Go out of the modules of one version, unchanged. Between each scheduler and the API server is an
interposer, which can hold a watch and lose a reply. Nothing listens on any other address, and all of it is gone at the end.
"""
