package podrace

import (
	"fmt"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// setGates sets the feature gates of the case. They belong to the whole program, so that they are set back after the case.
func (w *World) setGates() error {
	known := utilfeature.DefaultMutableFeatureGate.GetAll()
	before := map[string]bool{}
	for name := range w.Case.Gates {
		if _, there := known[featuregate.Feature(name)]; !there {
			return fmt.Errorf("this version has no feature gate %s", name)
		}
		before[name] = utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(w.Case.Gates); err != nil {
		return err
	}
	w.before = before
	return nil
}

func (w *World) resetGates() {
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(w.before); err != nil {
		panic(err)
	}
}
