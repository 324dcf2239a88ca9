package podrace

import (
	"bytes"
	"runtime"
	"strings"
	"time"
)

// The old scheduler waits on channels of package variables, which are none of a bubble of testing/synctest. Whether anybody moves is
// read off the states of all goroutines instead: there is no network and no disk here, so when all of them wait, only a timer can wake one.

const (
	stillLooks = 2 // how often in a row nobody may move
	stillLimit = 10 * time.Second
)

// One at a time: whoever can run then does so before the player looks again, and timers that are due fire.
func init() { runtime.GOMAXPROCS(1) }

// still is whether nobody has been made to move since all stood still. Only the player asks, and moves anybody.
var still bool

// stir is called by whoever makes somebody move.
func stir() { still = false }

// settle waits until nobody moves. It returns, too, when somebody still does after a long time: the next look at the stage will tell.
func settle() {
	if still {
		return
	}
	still = true
	for looks, begun := 0, time.Now(); looks < stillLooks && time.Since(begun) < stillLimit; looks++ {
		for turns := 0; turns < 20; turns++ {
			runtime.Gosched()
		}
		if moving() {
			looks = -1
		}
	}
}

var dump = make([]byte, 1<<20)

// goroutines gives the stacks of all goroutines, that of the one who asks first.
func goroutines() []byte {
	for {
		n := runtime.Stack(dump, true)
		if n < len(dump) {
			return dump[:n]
		}
		dump = make([]byte, 2*len(dump))
	}
}

// moving is whether any other goroutine runs or could run.
func moving() bool {
	for i, stack := range bytes.Split(goroutines(), []byte("\n\n")) {
		if i > 0 && isMoving(stack) {
			return true
		}
	}
	return false
}

func isMoving(stack []byte) bool {
	head, rest, _ := strings.Cut(string(stack), "\n")
	_, state, _ := strings.Cut(head, "[")
	state, _, _ = strings.Cut(strings.TrimRight(state, "]:"), ",")
	switch state {
	case "running", "runnable":
		return true
	case "syscall": // the runtime's own goroutine that waits for signals is never in any other state
		return !strings.HasPrefix(rest, "os/signal.signal_recv")
	}
	return false
}
