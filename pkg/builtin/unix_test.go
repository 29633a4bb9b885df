//go:build unix

package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolx/pkg/exec"
)

// The programs below answer as the real ones do, and keep the volume in a file. They use nothing but the shell's own
// commands, for PATH holds only them.
const (
	shellHead = "#!/bin/sh\nstate=${0%/*}/state\nread level muted < \"$state\"\n" +
		"log() { echo \"$*\" >> \"${0%/*}/log\"; }\n" +
		"save() { echo \"$level $muted\" > \"$state\"; }\n[ \"$LC_ALL\" = C ] || exit 9\n"

	fakeWpctl = shellHead + `
case $1 in
get-volume) [ "$2" = @DEFAULT_AUDIO_SINK@ ] || exit 3
	case $level in 100) text=1.00;; ?) text=0.0$level;; *) text=0.$level;; esac
	[ "$muted" = 1 ] && text="$text [MUTED]"
	echo "Volume: $text";;
set-volume) log "$@"; level=${3%\%}; save;;
set-mute) log "$@"; muted=$3; save;;
*) exit 4;;
esac
`
	fakePactl = shellHead + `
case $1 in
get-sink-volume)
	echo "Volume: front-left: 26214 /  $level% / -23.88 dB,   front-right: 26214 /  $level% / -23.88 dB"
	echo "        balance 0.00";;
get-sink-mute) if [ "$muted" = 1 ]; then echo "Mute: yes"; else echo "Mute: no"; fi;;
set-sink-volume) log "$@"; level=${3%\%}; save;;
set-sink-mute) log "$@"; muted=$3; save;;
*) exit 4;;
esac
`
	fakeAmixer = shellHead + `
log "$@"
[ "$1" = -M ] && shift
case $1 in
get) ;;
set) case $3 in mute) muted=1;; unmute) muted=0;; *) level=${3%\%};; esac; save;;
*) exit 4;;
esac
if [ "$muted" = 1 ]; then switch=off; else switch=on; fi
echo "Simple mixer control 'Master',0"
echo "  Capabilities: pvolume pswitch"
echo "  Playback channels: Front Left - Front Right"
echo "  Limits: Playback 0 - 65536"
echo "  Mono:"
echo "  Front Left: Playback 26214 [$level%] [-23.88dB] [$switch]"
echo "  Front Right: Playback 26214 [$level%] [-23.88dB] [$switch]"
`
	fakeOsascript = shellHead + `
[ "$1" = -e ] && [ $# = 2 ] || exit 3
case $2 in
"get volume settings") if [ "$muted" = 1 ]; then muted=true; else muted=false; fi
	echo "output volume:$level, input volume:75, alert volume:100, output muted:$muted";;
"set volume output volume "*) log "$@"; level=${2##* }; save;;
"set volume output muted true") log "$@"; muted=1; save;;
"set volume output muted false") log "$@"; muted=0; save;;
*) exit 4;;
esac
`
)

// install makes a folder with programs and a volume of 40 %, the only one in PATH.
func install(t *testing.T, programs map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, script := range programs {
		const executable = 0o700
		if err := os.WriteFile(filepath.Join(folder, name), []byte(script), executable); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "state"), []byte("40 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder)
	return folder
}

// IMPL-3: volume, with each of the programs that may be installed.
func TestVolume(t *testing.T) {
	backends := []struct {
		program, script string
		mixer           mixer
	}{
		{"wpctl", fakeWpctl, mixers("linux")[0]},
		{"pactl", fakePactl, mixers("linux")[1]},
		{"amixer", fakeAmixer, mixers("linux")[2]},
		{"osascript", fakeOsascript, mixers("darwin")[0]},
	}
	steps := []struct {
		arguments string
		level     int
		muted     bool
	}{
		{`{}`, 40, false},
		{`{"level":29}`, 29, false},
		{`{"change":-10}`, 19, false},
		{`{"change":-30}`, 0, false},
		{`{"change":100}`, 100, false},
		{`{"level":7,"mute":true}`, 7, true},
		{`{}`, 7, true},
		{`{"mute":false}`, 7, false},
	}
	for _, backend := range backends {
		t.Run(backend.program, func(t *testing.T) {
			folder := install(t, map[string]string{backend.program: backend.script})
			for _, step := range steps {
				var wanted volumeArguments
				if err := json.Unmarshal([]byte(step.arguments), &wanted); err != nil {
					t.Fatal(err)
				}
				got, err := setVolume(t.Context(), []mixer{backend.mixer}, wanted)
				if want := (sound{step.level, step.muted, backend.program}); err != nil || got != want {
					t.Errorf("%s: got %+v, %v, want %+v", step.arguments, got, err, want)
				}
			}
			if log, err := os.ReadFile(filepath.Join(folder, "log")); err != nil ||
				strings.Contains(string(log), "-30") {
				t.Errorf("log %q: %v", log, err)
			}
		})
	}
}

// The first program that works is used, and what is wrong with the others is told.
func TestVolumeFindsWhatWorks(t *testing.T) {
	const noPipewire = "#!/bin/sh\necho 'Could not connect to PipeWire' >&2\nexit 1\n"
	linux := mixers("linux")

	install(t, map[string]string{"wpctl": noPipewire, "pactl": fakePactl, "amixer": fakeAmixer})
	if got, err := setVolume(t.Context(), linux, volumeArguments{}); err != nil || got.Backend != "pactl" {
		t.Errorf("got %+v, %v", got, err)
	}
	install(t, map[string]string{"wpctl": noPipewire, "amixer": "#!/bin/sh\necho nonsense\n"})
	_, err := setVolume(t.Context(), linux, volumeArguments{})
	want := `no volume control works: wpctl: exit status 1: Could not connect to PipeWire; amixer: unreadable output: "nonsense"`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	install(t, nil)
	_, err = setVolume(t.Context(), linux, volumeArguments{})
	want = "no volume control found: install one of wpctl (PipeWire), pactl (PulseAudio), amixer (ALSA)"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// A program that hangs ends with the call.
func TestVolumeEndsWithItsCall(t *testing.T) {
	sleep, err := osexec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	install(t, map[string]string{"wpctl": "#!/bin/sh\nexec " + sleep + " 60\n"})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := setVolume(ctx, mixers("linux"), volumeArguments{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestVolumeParsers(t *testing.T) {
	tests := []struct {
		name, out string
		want      sound
		fail      string
	}{
		{"wpctl over 100", "Volume: 1.53\n", sound{Level: 153}, ""},
		{"wpctl muted", "Volume: 0.00 [MUTED]\n", sound{Muted: true}, ""},
		{"wpctl nonsense", "Volume: loud", sound{}, "unreadable output"},
		{"pactl mono", "Volume: mono: 65536 / 100% / 0.00 dB\nMute: yes\n", sound{Level: 100, Muted: true}, ""},
		{
			"pactl balance", "Volume: front-left: 1 /  40% / 0 dB,   front-right: 1 /  60% / 0 dB\nMute: no",
			sound{Level: 50},
			"",
		},
		{"pactl nonsense", "No such entity\n", sound{}, "unreadable output"},
		{"amixer without a switch", "  Mono: Playback 50 [78%] [-12.00dB]", sound{Level: 78}, ""},
		{"amixer one side on", "L: Playback 1 [40%] [off]\nR: Playback 1 [40%] [on]", sound{Level: 40}, ""},
		{"amixer capture", "Mono: Playback 1 [40%] [on]\nMono: Capture 1 [90%] [off]", sound{Level: 40}, ""},
		{
			"osascript display",
			"output volume:missing value, input volume:50, alert volume:100, output muted:missing value\n",
			sound{},
			"no volume that can be set",
		},
		{"osascript nonsense", "", sound{}, "unreadable output"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := readSound(test.out)
			if test.fail != "" {
				if err == nil || !strings.Contains(err.Error(), test.fail) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || got != test.want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// The tool itself looks for the programs of the system that it runs on.
func TestVolumeTool(t *testing.T) {
	install(t, nil)
	_, err := volume(t.Context(), exec.Request{Arguments: json.RawMessage(`{}`)})
	if err == nil || !strings.HasPrefix(err.Error(), "no volume control found: install one of ") {
		t.Errorf("got %v", err)
	}
	_, err = volume(t.Context(), exec.Request{Arguments: json.RawMessage(`{"level":1,"change":1}`)})
	if err == nil || err.Error() != "give either level or change, not both" {
		t.Errorf("got %v", err)
	}
	_, err = volume(t.Context(), exec.Request{Arguments: json.RawMessage(`{"level":"loud"}`)})
	if err == nil || err.Error() != "parameter level cannot be a string" {
		t.Errorf("got %v", err)
	}
}

// A repository may have a pipe in place of an ignore file. Git waits for it, and the search does not.
func TestIgnoreFileThatIsAPipe(t *testing.T) {
	git, err := osexec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	root := t.TempDir()
	if err := osexec.CommandContext(t.Context(), git, "init", "-q", root).Run(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(root, ".gitignore"), 0o600); err != nil {
		t.Fatal(err)
	}
	const short = 50 * time.Millisecond
	if names, err := gitFiles(t.Context(), root, short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %q, %v", names, err)
	}
}

// Neither a pipe nor what passes for a file and does not end holds a search up.
func TestSearchDoesNotWait(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "file"), []byte("needle"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // it was read only
	for _, from := range []files{anyFile{}, filesBelow{folder, root}} {
		if data, err := readUpTo(from, filepath.Join(folder, "pipe"), 10); err == nil {
			t.Errorf("%T: the pipe holds %q", from, data)
		}
		pipe, err := from.open(filepath.Join(folder, "pipe")) // it may be one by the time that it is opened
		if err != nil {
			t.Fatal(err)
		}
		_ = pipe.Close()
		if data, err := readUpTo(from, filepath.Join(folder, "file"), 10); string(data) != "needle" {
			t.Errorf("%T: the file holds %q: %v", from, data, err)
		}
	}
	const endless = "/proc/kmsg" // the kernel's log, which the superuser may read
	if _, err := os.Stat(endless); err != nil {
		return
	}
	if data, err := readUpTo(anyFile{}, endless, maxSearchFile); err == nil && len(data) == 0 {
		t.Errorf("%s came to its end", endless)
	}
}
