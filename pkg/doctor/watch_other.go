//go:build !linux

package doctor

import "toolx/pkg/procs"

// Only Linux reports processes without starting another program. Elsewhere, checks that need them are skipped.

func births(int) []birth { return nil }

func groupMembers(int) []birth { return nil }

func (b birth) alive() bool { return false }

func (b birth) process() procs.Process { return procs.Process{PID: b.pid} }

func (b birth) kill() {}

func pipesOf(int) map[string]string { return nil }

func holders(map[string]string) []birth { return nil }

func holds(int, map[string]string) []string { return nil }
