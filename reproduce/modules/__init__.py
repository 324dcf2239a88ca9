"""The Go module of a version of kube-scheduler, and the Go that builds it."""
