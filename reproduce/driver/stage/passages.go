package podrace

// passage is an actor that came to a point, whether or not it was held there.
type passage struct {
	actor *actor
	point point
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
