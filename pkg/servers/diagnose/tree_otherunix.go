//go:build unix && !linux

package diagnose

import "os/exec"

// treeOf returns a process and its descendants, as ps knows them; nil without ps.
func treeOf(pid int) []treeProcess {
	list, err := exec.Command("ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "command=").Output()
	if err != nil {
		return nil
	}
	return parseProcesses(string(list), pid)
}
