package podrace

import "sync"

// memo keeps what was made for a key: the same few hundred are asked for after each step.
type memo[K comparable, V any] struct {
	lock sync.RWMutex
	made map[K]V
}

func (m *memo[K, V]) get(key K, make func(K) V) V {
	m.lock.RLock()
	found, there := m.made[key]
	m.lock.RUnlock()
	if there {
		return found
	}
	found = make(key)
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.made == nil {
		m.made = map[K]V{}
	}
	m.made[key] = found
	return found
}
