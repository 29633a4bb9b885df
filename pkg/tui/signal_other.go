//go:build !unix

package tui

import tea "charm.land/bubbletea/v2"

// restoreAtCrash does nothing: no signal ends a process here.
func restoreAtCrash(*tea.Program) (stop func()) { return func() {} }
