package podrace

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
	"testing/synctest"
)

// TestRecord takes the free runs of PODRACE_FREE_RUNS, one a line, and writes what came of them to PODRACE_RECORDS.
func TestRecord(t *testing.T) {
	file, out := os.Getenv("PODRACE_FREE_RUNS"), os.Getenv("PODRACE_RECORDS")
	if file == "" || out == "" {
		t.Skip("PODRACE_FREE_RUNS and PODRACE_RECORDS name the files")
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	records, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<16), lineLimit)
	encoder := json.NewEncoder(records)
	for lines.Scan() {
		c := &FreeRun{}
		if err := json.Unmarshal(lines.Bytes(), c); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			record, err := c.take()
			if err != nil {
				record.Stopped = err.Error()
			}
			if err := encoder.Encode(record); err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
