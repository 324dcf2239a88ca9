package podrace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	v1 "k8s.io/api/core/v1"
)

const (
	caseFormat  = "podrace-case"
	caseVersion = 1
)

// Case is a run of the model that is to be executed on the real scheduler, with all that is needed for it.
type Case struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	ID       string `json:"id"`
	Release  string `json:"release"`
	Property string `json:"property"`

	Nodes   []*v1.Node `json:"nodes"`
	Pods    []*v1.Pod  `json:"pods"`
	Budgets []budget   `json:"budgets"`

	Groups  [][]json.RawMessage `json:"groups"`  // of pods, each in the kinds of all releases
	Claims  []json.RawMessage   `json:"claims"`  // ResourceClaims
	Devices []json.RawMessage   `json:"devices"` // DeviceClasses and ResourceSlices

	Storage []json.RawMessage `json:"storage"` // StorageClasses, PersistentVolumes and PersistentVolumeClaims

	Extenders  []extenderSpec    `json:"extenders"`  // which the scheduler asks, in the order of the configuration
	Namespaces []*v1.Namespace   `json:"namespaces"` // those whose labels somebody asks for
	Services   []json.RawMessage `json:"services"`   // from which pods have topology spread constraints by default

	NodeVersions map[string]*v1.Node `json:"node_versions"` // what the objects of nodes are updated to, by the names of the versions
	PodVersions  map[string]*v1.Pod  `json:"pod_versions"`  // as well, those of pods

	AbsentNodes   []string            `json:"absent_nodes"` // those of them that are created on the way
	AbsentPods    []string            `json:"absent_pods"`
	AbsentClaims  []string            `json:"absent_claims"`
	AbsentDevices []string            `json:"absent_devices"` // published on the way
	AbsentStorage []string            `json:"absent_storage"`
	AbsentGroups  []string            `json:"absent_groups"`
	Order         []string            `json:"order"`  // in which the pods that wait at the start come to the queue
	Points        map[string][]string `json:"points"` // where plugins have work for a pod
	Gates         map[string]bool     `json:"gates"`  // feature gates
	Backoff       *bool               `json:"backoff"`
	Scored        bool                `json:"scored"`       // scores decide which node wins; otherwise the trace does
	Scores        *scoresSpec         `json:"scores"`       // how, where they do; nil for what is so by default
	Drops         bool                `json:"drops_beyond"` // handlers are not given events that the model does not have

	Initial  map[string]any `json:"initial"` // every variable of the model, by name
	Steps    []Step         `json:"steps"`
	LoopFrom *int           `json:"loop_from"`
	Epilogue bool           `json:"epilogue"`
	Roam     int            `json:"roam"`   // so many moves of the real code's own after the steps
	Seed     int            `json:"seed"`   // which
	Left     map[string]int `json:"left"`   // how often users and faults may act in these, by the scope's names
	Ranked   bool           `json:"ranked"` // it is the first in rank who moves
	Alone    bool           `json:"alone"`  // only one of those who are held moves, and those whom it starts: the seed is its number by name

	unseen  []string // what cannot be seen, as the first look found it
	learned *learned // what its variables name, as the first look found it

	names names // of the pods that do not have the model's
}

// extenderSpec is an extender: of which resource it keeps count, what it is called for, and when it begins to count a pod.
type extenderSpec struct {
	Name         string           `json:"name"`                 // as the model has it
	Resource     string           `json:"resource"`             // empty for one that is asked about all pods, and counts none
	Ignored      bool             `json:"ignored_by_scheduler"` // NodeResourcesFit does not look at the resource
	Verbs        []string         `json:"verbs"`
	Ignorable    bool             `json:"ignorable"`
	Counts       string           `json:"counts"`
	Nodes        []string         `json:"nodes"`        // which it lets through; nil for all
	Unresolvable bool             `json:"unresolvable"` // what it rejects no preemption can help
	Scores       map[string]int64 `json:"scores"`       // by node
	Weight       int64            `json:"weight"`
}

// scoresSpec is what the profile says of scores.
type scoresSpec struct {
	Weights         map[string]int32 `json:"weights"`  // of the score plugins, by name
	Strategy        string           `json:"strategy"` // of NodeResourcesFit, if resources are scored
	HardAffinity    int32            `json:"hard_affinity_weight"`
	IgnorePreferred bool             `json:"ignore_preferred_of_existing"`
}

// Step is a step of the model, and what it changes there.
type Step struct {
	Step    string         `json:"step"`
	Actor   string         `json:"actor"`
	Args    map[string]any `json:"args"`
	WaitMS  int            `json:"wait_ms"`
	Changes map[string]any `json:"changes"`
	Rivals  []string       `json:"rivals"`
	Waiting bool           `json:"waiting"` // the scheduler waits in Pop meanwhile, and the next step is this Pop
}

// arg is an argument of the step in the words of the case; empty if there is none.
func (s Step) arg(name string) string {
	v, ok := s.Args[name]
	if !ok || v == nil {
		return s.ofUse(name)
	}
	return fmt.Sprint(v)
}

// ofUse is the claim or the pod of a step that is about a claim of a pod, "c1 of a".
func (s Step) ofUse(name string) string {
	use, _ := s.Args["use"].(string)
	claim, pod, _ := strings.Cut(use, " of ")
	return map[string]string{"claim": claim, "pod": pod}[name]
}

// says is an argument of the step that is yes or no.
func (s Step) says(name string) bool {
	v, _ := s.Args[name].(bool)
	return v
}

// Outcome is what came of a case.
type Outcome struct {
	ID       string            `json:"id"`
	Verdict  string            `json:"verdict"`
	At       *int              `json:"at"` // the number of the step that could not be forced, from 1
	Why      string            `json:"why"`
	Initial  map[string]any    `json:"initial"`
	Start    []Difference      `json:"start"` // what differs before the first step
	Steps    []StepOutcome     `json:"steps"`
	Unseen   []string          `json:"unseen"`
	Kept     map[string]string `json:"kept,omitempty"` // what the scheduler keeps in memory before the first step, by kind, as text or fingerprint
	Sees     map[string]any    `json:"sees,omitempty"` // all that is seen before the first move of its own
	Roam     []RoamStep        `json:"roam,omitempty"`
	Epilogue map[string]any    `json:"epilogue,omitempty"`
	Log      []string          `json:"log"`
}

// StepOutcome is what came of one step.
type StepOutcome struct {
	Points  []string          `json:"points"`          // where actors were held in it
	Real    map[string]any    `json:"real"`            // what has changed really
	Keeps   map[string]string `json:"keeps,omitempty"` // the kinds of it that have changed; empty for what is no longer there
	Differs []Difference      `json:"differs"`
	Decided []decision        `json:"decided,omitempty"` // by plugins of the user's, since the step before
}

// Difference is a variable that the model and the real scheduler do not have the same value for.
type Difference struct {
	Variable string `json:"variable"`
	Model    any    `json:"model"`
	Real     any    `json:"real"`
}

// Verdicts of the driver; what a run without differences shows is judged elsewhere.
const (
	done      = "DONE"
	differs   = "DIFFERS"
	unforced  = "CANNOT BE FORCED"
	notThere  = "NOT THERE"
	crashed   = "CRASHED"
	lineLimit = 1 << 26
)

// readCases gives the cases of a file with one JSON object a line.
func readCases(r io.Reader) ([]*Case, error) {
	var cases []*Case
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 1<<16), lineLimit)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		c := &Case{}
		if err := json.Unmarshal(lines.Bytes(), c); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if c.Format != caseFormat || c.Version != caseVersion {
			return nil, fmt.Errorf("line %d: format %q version %d, not %q version %d", n, c.Format, c.Version, caseFormat, caseVersion)
		}
		cases = append(cases, c)
	}
	return cases, lines.Err()
}
