package builtin

import (
	"context"
	"errors"
	"fmt"
	"math"
	osexec "os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
)

const volumeDefinition = `{
	"name": "volume",
	"title": "System volume",
	"description": "Returns the volume of the system's default audio output (level in percent, and whether it is muted), after setting it to a level, changing it, or muting or unmuting it. Without arguments, changes nothing.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"level": {"type": "integer", "minimum": 0, "maximum": 100, "description": "Level to set, in percent"},
			"change": {"type": "integer", "minimum": -100, "maximum": 100, "description": "Percentage points to add, negative to lower the volume; the level stays between 0 and 100"},
			"mute": {"type": "boolean", "description": "Mute (true) or unmute (false) the output"}
		},
		"not": {"required": ["level", "change"]}
	},
	"annotations": {"title": "System volume", "readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": false}
}`

// sound is the state of the default output.
type sound struct {
	Level   int    `json:"level"` // percent; some systems go over 100
	Muted   bool   `json:"muted"`
	Backend string `json:"backend"` // the program that reported it
}

// mixer controls the volume through one program. In its arguments, LEVEL stands for the level to set.
type mixer struct {
	program           string
	system            string     // that the program belongs to, for messages
	ask               [][]string // the arguments of each run that reads the volume
	set, mute, unmute []string
}

// runner runs a mixer's program and returns its standard output.
type runner func(ctx context.Context, arguments ...string) (string, error)

// volumeArguments are the parameters of volumeDefinition.
type volumeArguments struct {
	Level  *int  `json:"level"`
	Change *int  `json:"change"`
	Mute   *bool `json:"mute"`
}

// volume reads and sets the system's volume (IMPL-3).
func volume(ctx context.Context, request exec.Request) (any, error) {
	var wanted volumeArguments
	if err := decode(request, &wanted); err != nil {
		return nil, err
	}
	if wanted.Level != nil && wanted.Change != nil {
		return nil, errors.New("give either level or change, not both")
	}
	return setVolume(ctx, mixers(runtime.GOOS), wanted)
}

// setVolume sets the volume with the first mixer that works, and returns the mixer's state afterwards.
func setVolume(ctx context.Context, mixers []mixer, wanted volumeArguments) (sound, error) {
	mixer, run, now, err := findMixer(ctx, mixers)
	if err != nil {
		return sound{}, err
	}
	level := wanted.Level
	if wanted.Change != nil {
		changed := now.Level + *wanted.Change
		level = &changed
	}
	if level == nil && wanted.Mute == nil {
		return now, nil
	}
	if level != nil {
		arguments := slices.Clone(mixer.set)
		for i, argument := range arguments {
			arguments[i] = strings.ReplaceAll(argument, "LEVEL", strconv.Itoa(min(max(*level, 0), 100)))
		}
		if _, err := run(ctx, arguments...); err != nil {
			return sound{}, fmt.Errorf("cannot set the volume: %s: %w", mixer.program, err)
		}
	}
	if wanted.Mute != nil {
		arguments := mixer.unmute
		if *wanted.Mute {
			arguments = mixer.mute
		}
		if _, err := run(ctx, arguments...); err != nil {
			return sound{}, fmt.Errorf("cannot mute or unmute: %s: %w", mixer.program, err)
		}
	}
	return readMixer(ctx, mixer, run)
}

// findMixer returns the first installed mixer that works, and its state. The error says what to install, or why the
// installed ones failed.
func findMixer(ctx context.Context, mixers []mixer) (mixer, runner, sound, error) {
	if len(mixers) == 0 {
		return mixer{}, nil, sound{}, errors.New(
			"no volume control found: toolx supports none on this system")
	}
	var failures, missing []string
	for _, m := range mixers {
		path, err := osexec.LookPath(m.program)
		if err != nil {
			missing = append(missing, fmt.Sprintf("%s (%s)", m.program, m.system))
			continue
		}
		run := programRunner(path)
		now, err := readMixer(ctx, m, run)
		if err == nil {
			return m, run, now, nil
		}
		if ctx.Err() != nil {
			return mixer{}, nil, sound{}, ctx.Err()
		}
		failures = append(failures, err.Error())
	}
	if len(failures) > 0 {
		return mixer{}, nil, sound{}, fmt.Errorf("no volume control works: %s", strings.Join(failures, "; "))
	}
	return mixer{}, nil, sound{}, fmt.Errorf("no volume control found: install one of %s", strings.Join(missing, ", "))
}

func readMixer(ctx context.Context, m mixer, run runner) (sound, error) {
	var answers []string
	for _, arguments := range m.ask {
		out, err := run(ctx, arguments...)
		if err != nil {
			return sound{}, fmt.Errorf("%s: %w", m.program, err)
		}
		answers = append(answers, out)
	}
	now, err := readSound(strings.Join(answers, "\n"))
	if err != nil {
		return sound{}, fmt.Errorf("%s: %w", m.program, err)
	}
	now.Backend = m.program
	return now, nil
}

// programRunner runs the program at path without a shell, so that each argument is passed unchanged.
func programRunner(path string) runner {
	const limit, grace = 10 * time.Second, 2 * time.Second
	return func(ctx context.Context, arguments ...string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		command := osexec.CommandContext(ctx, path, arguments...)
		command.Env = append(config.Environ(), "LC_ALL=C") // the parsed words are English
		command.WaitDelay = grace
		out, err := command.Output()
		if err == nil {
			return string(out), nil
		}
		if ctx.Err() != nil {
			return "", fmt.Errorf("no response: %w", ctx.Err())
		}
		var exit *osexec.ExitError
		if errors.As(err, &exit) {
			if said := strings.TrimSpace(string(exit.Stderr)); said != "" {
				return "", fmt.Errorf("%w: %s", err, said)
			}
		}
		return "", err
	}
}

// mixers returns the programs to try on an operating system, best first.
func mixers(system string) []mixer {
	const pipewire, pulse, alsa = "@DEFAULT_AUDIO_SINK@", "@DEFAULT_SINK@", "Master"
	switch system {
	case "windows":
		return nil // no program controls it there
	case "darwin":
		return []mixer{{
			program: "osascript", system: "macOS",
			ask:    [][]string{{"-e", "get volume settings"}},
			set:    []string{"-e", "set volume output volume LEVEL"},
			mute:   []string{"-e", "set volume output muted true"},
			unmute: []string{"-e", "set volume output muted false"},
		}}
	}
	return []mixer{{
		program: "wpctl", system: "PipeWire",
		ask:    [][]string{{"get-volume", pipewire}},
		set:    []string{"set-volume", pipewire, "LEVEL%"},
		mute:   []string{"set-mute", pipewire, "1"},
		unmute: []string{"set-mute", pipewire, "0"},
	}, {
		program: "pactl", system: "PulseAudio",
		ask:    [][]string{{"get-sink-volume", pulse}, {"get-sink-mute", pulse}},
		set:    []string{"set-sink-volume", pulse, "LEVEL%"},
		mute:   []string{"set-sink-mute", pulse, "1"},
		unmute: []string{"set-sink-mute", pulse, "0"},
	}, {
		program: "amixer", system: "ALSA",
		// -M: percent as perceived, as desktops show it.
		ask:    [][]string{{"-M", "get", alsa}},
		set:    []string{"-M", "set", alsa, "LEVEL%"},
		mute:   []string{"set", alsa, "mute"},
		unmute: []string{"set", alsa, "unmute"},
	}}
}

// readSound reads what a mixer prints: "Volume: 0.40 [MUTED]" (wpctl), "Volume: front-left: 26214 / 40% / …" and "Mute:
// no" (pactl), lines such as "Front Left: Playback 26214 [40%] [on]" (amixer), or "output volume:40, …, output
// muted:false" (osascript). The level is the mean of the channels; a control without a switch is never muted.
func readSound(out string) (sound, error) {
	if strings.Contains(out, "output volume:missing value") { // a display, for example
		return sound{}, errors.New("the current output has no volume that can be set")
	}
	var text strings.Builder
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "Capture") {
			text.WriteString(line)
		}
	}
	level := regexp.MustCompile(`(\d+)%|Volume: (\d+\.\d+)|output volume:(\d+)`)
	levels := level.FindAllStringSubmatch(text.String(), -1)
	if levels == nil {
		return sound{}, fmt.Errorf("unreadable output: %q", strings.TrimSpace(out))
	}
	sum := 0.0
	for _, found := range levels {
		fraction, _ := strconv.ParseFloat(found[2], 64) // nothing counts as 0
		percent, _ := strconv.Atoi(found[1] + found[3])
		sum += 100*fraction + float64(percent)
	}
	has := func(sign string) bool { return strings.Contains(text.String(), sign) }
	return sound{
		Level: int(math.Round(sum / float64(len(levels)))),
		Muted: has("[MUTED]") || has("Mute: yes") || has("output muted:true") || has("[off]") && !has("[on]"),
	}, nil
}
