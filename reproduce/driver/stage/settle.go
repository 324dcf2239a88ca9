package podrace

import "testing/synctest"

// settle waits until nobody in the bubble can move but by the passing of time.
func settle() { synctest.Wait() }

// stir is called by whoever makes somebody move: a bubble notices by itself.
func stir() {}
