package podrace

import (
	"bytes"
	"runtime"
	"strconv"
	"strings"
)

// goroutine is the number of the goroutine that asks. The runtime tells it only in the first line of a stack.
func goroutine() int64 {
	var buffer [64]byte
	line := buffer[:runtime.Stack(buffer[:], false)]
	line = bytes.TrimPrefix(line, []byte("goroutine "))
	if i := bytes.IndexByte(line, ' '); i >= 0 {
		line = line[:i]
	}
	id, _ := strconv.ParseInt(string(line), 10, 64)
	return id
}

// creation is where a goroutine was started, and by which one.
type creation struct {
	function string
	by       int64
}

// creator says who started the goroutine that asks: the last two lines of its stack.
func creator() creation {
	buffer := make([]byte, 1<<16)
	stack := string(buffer[:runtime.Stack(buffer, false)])
	i := strings.LastIndex(stack, "created by ")
	if i < 0 {
		return creation{}
	}
	line, _, _ := strings.Cut(stack[i+len("created by "):], "\n")
	function, by, _ := strings.Cut(line, " in goroutine ")
	id, _ := strconv.ParseInt(strings.TrimSpace(by), 10, 64)
	return creation{function, id}
}
