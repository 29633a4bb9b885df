//go:build !unix

package terminal

import tea "charm.land/bubbletea/v2"

// RestoreAtCrash does nothing: no signal ends a process here.
func RestoreAtCrash(*tea.Program) (stop func()) { return func() {} }
