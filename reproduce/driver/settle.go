package podrace

import "testing/synctest"

// settle waits until nobody moves: in a bubble, until everybody in it waits for somebody or for a time to come.
func settle() { synctest.Wait() }

// stir is called by whoever makes somebody move. A bubble notices by itself.
func stir() {}
