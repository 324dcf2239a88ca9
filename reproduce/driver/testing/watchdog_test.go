package podrace

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAWatchdogBarksUnlessItIsCalledOff(t *testing.T) {
	for _, calledOff := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			barked := false
			off := watchdog(3, func() { barked = true })
			time.Sleep(2500 * time.Millisecond)
			if synctest.Wait(); barked {
				t.Error("it barks too early")
			}
			if calledOff {
				off()
			}
			time.Sleep(time.Second)
			if synctest.Wait(); barked == calledOff {
				t.Errorf("called off: %v, barked: %v", calledOff, barked)
			}
			off()
		})
	}
}
