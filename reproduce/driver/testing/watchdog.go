package podrace

import (
	"runtime/debug"
	"sync"
	"time"
)

// watchdog barks once so many seconds have passed in which the process ran: those in which it was stopped, or had no processor, are none. What it gives calls it off.
func watchdog(seconds int, bark func()) (off func()) {
	done := make(chan struct{})
	go func() {
		for range seconds {
			select {
			case <-done:
				return
			case <-time.After(time.Second):
			}
		}
		bark()
	}()
	return sync.OnceFunc(func() { close(done) })
}

// hangs ends the process, with where everybody stands. By real time: it is for a watchdog outside of a bubble.
func hangs(what string) func() {
	return func() {
		debug.SetTraceback("all")
		panic(what + " hangs: somebody is held inside a lock")
	}
}
