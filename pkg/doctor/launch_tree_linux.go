package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"toolx/pkg/doctor/evidence"
)

// processTree lists the process and all that descend from it, parents before their
// children, from /proc. It is nil where the process is gone.
func processTree(pid int) []evidence.Process {
	children := make(map[int][]int)
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		if child, parent, ok := readParent(folder); ok {
			children[parent] = append(children[parent], child)
		}
	}
	var tree []evidence.Process
	parents := map[int]int{pid: 0}
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		command, err := os.ReadFile("/proc/" + strconv.Itoa(queue[0]) + "/cmdline")
		if err != nil {
			continue // it has just ended
		}
		tree = append(tree, evidence.Process{PID: queue[0], Parent: parents[queue[0]], Command: splitArguments(command)})
		for _, child := range children[queue[0]] {
			parents[child] = queue[0]
			queue = append(queue, child)
		}
	}
	return tree
}

// readParent reads a process's number and its parent's. The name before them in
// stat is in parentheses and may hold any character.
func readParent(folder string) (pid, parent int, ok bool) {
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return 0, 0, false
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0, 0, false
	}
	pid, err = strconv.Atoi(filepath.Base(folder))
	if err != nil {
		return 0, 0, false
	}
	parent, err = strconv.Atoi(fields[1])
	return pid, parent, err == nil
}

// splitArguments reads /proc/PID/cmdline. Programs that rename themselves, as npm
// does, leave spaces or zeros behind their name.
func splitArguments(text []byte) []string {
	return strings.Split(strings.TrimRight(string(text), "\x00 "), "\x00")
}
