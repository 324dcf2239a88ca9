package podrace

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/klog/v2"
)

// TestReplay executes the cases of the file that PODRACE_CASES names, and writes what came of each to the one that PODRACE_OUTCOMES names.
func TestReplay(t *testing.T) {
	file := os.Getenv("PODRACE_CASES")
	if file == "" {
		t.Skip("PODRACE_CASES names no file")
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cases, err := readCases(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(os.Getenv("PODRACE_OUTCOMES"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	lines := json.NewEncoder(out)
	for _, c := range cases {
		if err := lines.Encode(outcomeOf(t, c)); err != nil {
			t.Fatal(err)
		}
	}
}

// patience is how many seconds a case may take before it hangs: most take a tenth of a second, and a hundred times that where others have the machine.
// It is less than what podrace waits for a case.
const patience = 100

// leftBehind is what synctest says of a bubble in which the test is over, and somebody still waits.
const leftBehind = "main bubble goroutine has exited"

// outcomeOf executes one case in a bubble of its own.
func outcomeOf(t *testing.T, c *Case) (out *Outcome) {
	defer watchdog(patience, hangs("case "+c.ID))()
	defer func() {
		if r := recover(); r != nil {
			if why := fmt.Sprint(r); out != nil && strings.Contains(why, leftBehind) {
				out.Log = append(out.Log, "goroutines of this version are left that nothing ends") // up to 1.30; the case is over
			} else {
				out = &Outcome{ID: c.ID, Verdict: crashed, Why: why}
			}
		}
	}()
	synctest.Test(t, func(*testing.T) {
		play(c, func(o *Outcome) { out = o })
	})
	return out
}

func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	os.Exit(m.Run())
}
