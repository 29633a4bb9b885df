package doctor

import (
	"os"
	"strings"

	"toolx/pkg/doctor/evidence"
)

// processTree returns the process and all that descend from it, parents before their children, from /proc; nil if the
// process is gone.
func processTree(pid int) []evidence.Process {
	children := make(map[int][]int)
	for child, stat := range allProcesses() {
		children[stat.parent] = append(children[stat.parent], child)
	}
	var tree []evidence.Process
	parents := map[int]int{pid: 0}
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		one := queue[0]
		command, err := os.ReadFile(procPath(one, "cmdline"))
		if err != nil || len(command) == 0 {
			continue // it has just ended; if nobody has waited for it, it has no command line
		}
		tree = append(tree, evidence.Process{
			PID: one, Parent: parents[one], Command: splitArguments(command),
			Stdin: shareFile(one, pid, "fd/0"), Stdout: shareFile(one, pid, "fd/1"),
		})
		for _, child := range children[one] {
			parents[child] = one
			queue = append(queue, child)
		}
	}
	return tree
}

// shareFile reports whether two processes have the same file open, by its name in /proc.
func shareFile(a, b int, name string) bool {
	one, err := os.Readlink(procPath(a, name))
	other, _ := os.Readlink(procPath(b, name)) // empty if it is gone
	return err == nil && one == other
}

// splitArguments reads /proc/PID/cmdline. Programs that rename themselves, as npm does, leave spaces or zeros after
// their name.
func splitArguments(text []byte) []string {
	return strings.Split(strings.TrimRight(string(text), "\x00 "), "\x00")
}
