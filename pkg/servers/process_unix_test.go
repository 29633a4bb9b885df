//go:build unix

package servers

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"toolx/pkg/servers/diagnose"
)

// groupAlive reports whether any process of the group is left that is more than an entry waiting to be reaped.
func groupAlive(id int) bool {
	if syscall.Kill(-id, 0) != nil {
		return false
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return true // no /proc: the signal's answer stands
	}
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue
		}
		// pid (name) state ppid pgrp …; the name may hold anything.
		fields := strings.Fields(string(stat)[strings.LastIndexByte(string(stat), ')')+1:])
		if len(fields) > 2 && fields[2] == strconv.Itoa(id) && fields[0] != "Z" {
			return true
		}
	}
	return false
}

// How the fake server's deaths by a signal are told.
const (
	crashedEnding = diagnose.EndingKilled
	crashedText   = "segmentation fault"
	killedText    = "signal: killed"
)
