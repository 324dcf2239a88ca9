package podrace

// passage is an actor that came to a point, whether or not it was held there.
type passage struct {
	actor *actor
	point point
}

// overhear notes what a point tells of the scheduling cycle: nobody is held there.
func (s *Stage) overhear(id int64, i *instance, p point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.actors[id]; a != nil && a.role == scheduling {
		i.cycle.hear(p)
	}
}

// setPasser says at which points nobody is held.
func (s *Stage) setPasser(passes func(point) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passer = passes
}

// passages gives the points that actors came to since it was last asked.
func (s *Stage) passages() []passage {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.passed
	s.passed = nil
	return p
}

// held are those who stand at points.
func (s *Stage) held() (all []*actor) {
	settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.standing {
		if !a.owner.dead {
			all = append(all, a)
		}
	}
	return all
}
