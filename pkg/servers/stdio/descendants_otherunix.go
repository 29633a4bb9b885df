//go:build unix && !linux

package stdio

import (
	"context"
	"os/exec"
)

// descendants tracks the descendants of the programs that toolx runs for servers. Where the kernel gives orphans to
// init, toolx only finds those in the program's group.
var descendants tracker

type tracker struct{}

func (tracker) start(cmd *exec.Cmd) (mark string, err error) { return "", cmd.Start() }

func (tracker) ended(int) {}

func (tracker) release(string) {}

func (tracker) kill(string, int) {}

func (tracker) sweep(context.Context, string, int) (found, left []string) { return nil, nil }
