//go:build unix && !linux

package servers

import (
	"context"
	"os/exec"
)

// offspring tracks the descendants of the programs that toolx runs for servers. Where the kernel gives orphans to init,
// toolx only finds those that stay in a program's group.
var offspring family

type family struct{}

func (family) start(cmd *exec.Cmd) (mark string, err error) { return "", cmd.Start() }

func (family) ended(int) {}

func (family) release(string) {}

func (family) kill(string, int) {}

func (family) sweep(context.Context, string, int) (found, left []string) { return nil, nil }
