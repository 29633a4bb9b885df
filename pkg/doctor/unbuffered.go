package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"toolx/pkg/cmdline"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
	"toolx/pkg/servers/diagnose"
)

// unbuffered is the variable that makes Python write output immediately.
const unbuffered = "PYTHONUNBUFFERED"

// buffers reports whether a Python server responds only because PYTHONUNBUFFERED is set in this environment but not in
// its entry. Other clients start it without that variable. It starts the server once more to find out.
func (o Options) buffers(ctx context.Context, e *evidence.Evidence) bool {
	if value, _ := cmdline.Variable(e.Launch.Env, unbuffered); value == "" || e.Server.Env[unbuffered] != "" ||
		!runsPython(e) {
		return false
	}
	launch := *e.Launch
	launch.Env = slices.DeleteFunc(slices.Clone(launch.Env), func(entry string) bool {
		return strings.HasPrefix(entry, unbuffered+"=")
	})
	const least, times = 2 * time.Second, 3 // times the measured start
	started := o.starting(ctx, &launch)
	connecting := o.connecting(o.newRun("buffered"), started)
	connecting.StderrDir = ""
	took, _ := evidence.StartTime(e)
	connecting.StartTimeout = max(least, times*took)
	session, err := servers.Connect(ctx, e.Server, &launch, connecting)
	started()
	if err == nil {
		session.Close(ctx)
	}
	var failure *diagnose.Failure
	return errors.As(err, &failure) && failure.Buffered
}

// runsPython reports whether Python, or a launcher of Python programs, runs the server.
func runsPython(e *evidence.Evidence) bool {
	command, args := cmdline.Unwrapped(e.Launch.Command, e.Launch.Args)
	if launcher, ok := cmdline.ParseLauncher(command, args); ok {
		return !launcher.NPM
	}
	ofPython := func(name string) bool {
		return strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy") || name == "uv"
	}
	found := cmdline.LookupIn(e.Launch.Cwd, e.Launch.Env).Find(command)
	first, _ := cmdline.ReadShebang(found.Path)
	return ofPython(cmdline.BaseName(command)) || ofPython(first.Program) ||
		ofPython(cmdline.BaseName(first.Interpreter))
}
