package podrace

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"k8s.io/klog"
)

func TestMain(m *testing.M) {
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			panic(err)
		}
	}
	klog.SetOutput(silence{})
	os.Exit(m.Run())
}

type silence struct{}

func (silence) Write(p []byte) (int, error) { return len(p), nil }

// TestReplay executes the cases of a file, and writes what came of them into another.
func TestReplay(t *testing.T) {
	from, to := os.Getenv("PODRACE_CASES"), os.Getenv("PODRACE_OUTCOMES")
	if from == "" || to == "" {
		t.Skip("PODRACE_CASES and PODRACE_OUTCOMES name the files")
	}
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cases, err := readCases(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	lines := json.NewEncoder(out)
	for _, c := range cases {
		if err := lines.Encode(playSafely(c)); err != nil {
			t.Fatal(err)
		}
	}
}

// playSafely is play, of which one case that goes wrong leaves the others alone.
func playSafely(c *Case) (out Outcome) {
	defer func() {
		if r := recover(); r != nil {
			out = Outcome{ID: c.ID, Verdict: crashed, Why: fmt.Sprint(r), Log: []string{string(debug.Stack())}}
		}
	}()
	return play(c)
}
