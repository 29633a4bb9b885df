//go:build !linux

package doctor

import "toolx/pkg/procs"

// Only Linux reports processes without starting another program. Elsewhere, checks that need them are skipped.

func processTree(int) []processID { return nil }

func groupMembers(int) []processID { return nil }

func (b processID) alive() bool { return false }

func (b processID) process() procs.Process { return procs.Process{PID: b.pid} }

func (b processID) kill() {}

func pipesOf(int) map[string]string { return nil }

func pipeUsers(map[string]string) []processID { return nil }

func openPipes(int, map[string]string) []string { return nil }
