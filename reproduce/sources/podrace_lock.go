package queue

import "sync"

// PodraceAmid is called amid a move and amid a requeue, with the queue's lock held: pods are in activeQ, and the event is not noted yet, or Done not called.
var PodraceAmid func()

func podraceAmid(activated bool) {
	if activated && PodraceAmid != nil {
		PodraceAmid()
	}
}

// PodraceRWMutex is a sync.RWMutex that is waited for at a channel, which counts as idle for testing/synctest: so its holder may be held.
type PodraceRWMutex struct {
	mu      sync.Mutex
	readers int
	writer  bool
	waiting []chan struct{}
}

func (l *PodraceRWMutex) wait(free func() bool, take func()) {
	for {
		l.mu.Lock()
		if free() {
			take()
			l.mu.Unlock()
			return
		}
		c := make(chan struct{})
		l.waiting = append(l.waiting, c)
		l.mu.Unlock()
		<-c
	}
}

func (l *PodraceRWMutex) leave(give func()) {
	l.mu.Lock()
	give()
	for _, c := range l.waiting {
		close(c)
	}
	l.waiting = nil
	l.mu.Unlock()
}

// Lock waits until nobody has it.
func (l *PodraceRWMutex) Lock() {
	l.wait(func() bool { return !l.writer && l.readers == 0 }, func() { l.writer = true })
}

// Unlock gives it back.
func (l *PodraceRWMutex) Unlock() { l.leave(func() { l.writer = false }) }

// RLock waits until nobody writes.
func (l *PodraceRWMutex) RLock() {
	l.wait(func() bool { return !l.writer }, func() { l.readers++ })
}

// RUnlock gives it back.
func (l *PodraceRWMutex) RUnlock() { l.leave(func() { l.readers-- }) }
