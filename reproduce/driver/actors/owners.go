package podrace

// Who owns pods, and who has them evicted: controllers create pods and delete them, the descheduler asks for evictions. What these hear of, wait for and choose is the
// trace's; what they write is the store's.

// createOwned: a controller creates a pod. Where one of this name was there before, and is gone, it is another pod, with a UID of its own.
func createOwned(p *player, s Step) error {
	delete(p.world.rejected, s.arg("owned"))
	return p.create(s.arg("owned"))
}

func deleteOwned(p *player, s Step) error { return p.world.Store.DeletePod(s.arg("owned")) }

// evictOwned: the descheduler asks the eviction subresource, which refuses where a budget allows nothing. It does not find a pod that is gone.
func evictOwned(p *player, s Step) error {
	pod, store := s.arg("owned"), p.world.Store
	if !store.runs(pod) {
		return nil
	}
	_, kept := p.model["budgets.evicting["+pod+"]"]
	switch found := p.world.protecting(pod); {
	case len(found) == 0:
		return store.DeletePod(pod)
	case kept && len(found) == 1 && found[0].Status.DisruptionsAllowed > 0 && !p.world.budgets.evicting[pod]:
		p.world.payFor(pod, found[0])
	}
	return nil
}

// bindForeign: another scheduler binds a pod of its own. What came of it that one hears, and not the one which is looked at.
func bindForeign(p *player, s Step) error {
	pod := s.arg("foreign")
	_ = p.world.Store.Bind(pod, p.world.foreign[pod])
	return nil
}

// assumeForeign: it finds room by a view of its own.
func assumeForeign(p *player, s Step) error {
	p.world.foreign[s.arg("foreign")] = s.arg("node")
	return nil
}
