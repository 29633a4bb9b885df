package builtin

import (
	"context"
	"errors"
	"fmt"
	osexec "os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
)

const volumeDefinition = `{
	"name": "volume",
	"title": "System volume",
	"description": "Reads the volume of the system's default output, or sets it: to a level, by a change, or muted and unmuted. Without arguments it only reads. Answers with the level (percent) and whether it is muted.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"level": {"type": "integer", "minimum": 0, "maximum": 100, "description": "The level to set, in percent"},
			"change": {"type": "integer", "minimum": -100, "maximum": 100, "description": "How much louder, or, if negative, quieter, in percent; the level stays within 0 and 100"},
			"mute": {"type": "boolean", "description": "Whether the output is to be muted"}
		},
		"not": {"required": ["level", "change"]}
	},
	"annotations": {"title": "System volume", "readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": false}
}`

// sound is the state of the default output.
type sound struct {
	Level   int    `json:"level"` // percent; some systems go over 100
	Muted   bool   `json:"muted"`
	Backend string `json:"backend"` // the program that was asked
}

// mixer controls the volume through one program.
type mixer struct {
	program string
	system  string     // what the program belongs to, for people
	ask     [][]string // the arguments of each run that reads the volume
	parse   func(out []string) (sound, error)
	set     func(level int) []string // the arguments that set a level
	mute    func(mute bool) []string
}

// runner runs a mixer's program and gives its standard output.
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

// setVolume does what is wanted through the first mixer that works, and returns what that mixer says afterwards.
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
		if _, err := run(ctx, mixer.set(min(max(*level, 0), 100))...); err != nil {
			return sound{}, fmt.Errorf("cannot set the volume: %s: %w", mixer.program, err)
		}
	}
	if wanted.Mute != nil {
		if _, err := run(ctx, mixer.mute(*wanted.Mute)...); err != nil {
			return sound{}, fmt.Errorf("cannot mute or unmute: %s: %w", mixer.program, err)
		}
	}
	return readMixer(ctx, mixer, run)
}

// findMixer returns the first mixer that is installed and answers, with what it answered. The error says what to
// install, or why those that are there failed.
func findMixer(ctx context.Context, mixers []mixer) (mixer, runner, sound, error) {
	if len(mixers) == 0 {
		return mixer{}, nil, sound{}, errors.New(
			"no volume control found: on this system toolx knows no program for it")
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
	now, err := m.parse(answers)
	if err != nil {
		return sound{}, fmt.Errorf("%s: %w", m.program, err)
	}
	now.Backend = m.program
	return now, nil
}

// programRunner runs the program at path. No shell is involved: each argument reaches the program as it is.
func programRunner(path string) runner {
	const limit, grace = 10 * time.Second, 2 * time.Second
	return func(ctx context.Context, arguments ...string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		command := osexec.CommandContext(ctx, path, arguments...)
		command.Env = append(config.Environ(), "LC_ALL=C") // the words that are parsed are English
		command.WaitDelay = grace
		out, err := command.Output()
		if err == nil {
			return string(out), nil
		}
		if ctx.Err() != nil {
			return "", fmt.Errorf("no answer: %w", ctx.Err())
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

// mixers returns the programs that are tried on an operating system, best first.
func mixers(system string) []mixer {
	switch system {
	case "windows":
		return nil // it has none
	case "darwin":
		return []mixer{appleMixer()}
	}
	return []mixer{pipewireMixer(), pulseMixer(), alsaMixer()}
}

func pipewireMixer() mixer {
	const sink = "@DEFAULT_AUDIO_SINK@"
	return mixer{
		program: "wpctl", system: "PipeWire",
		ask:   [][]string{{"get-volume", sink}},
		parse: func(out []string) (sound, error) { return parseWpctl(out[0]) },
		set:   func(level int) []string { return []string{"set-volume", sink, percent(level)} },
		mute:  func(mute bool) []string { return []string{"set-mute", sink, choose(mute, "1", "0")} },
	}
}

func pulseMixer() mixer {
	const sink = "@DEFAULT_SINK@"
	return mixer{
		program: "pactl", system: "PulseAudio",
		ask:   [][]string{{"get-sink-volume", sink}, {"get-sink-mute", sink}},
		parse: func(out []string) (sound, error) { return parsePactl(out[0], out[1]) },
		set:   func(level int) []string { return []string{"set-sink-volume", sink, percent(level)} },
		mute:  func(mute bool) []string { return []string{"set-sink-mute", sink, choose(mute, "1", "0")} },
	}
}

func alsaMixer() mixer {
	const control = "Master"
	return mixer{
		program: "amixer", system: "ALSA",
		// -M: percent as the ear hears them, as the desktop shows them.
		ask:   [][]string{{"-M", "get", control}},
		parse: func(out []string) (sound, error) { return parseAmixer(out[0]) },
		set:   func(level int) []string { return []string{"-M", "set", control, percent(level)} },
		mute:  func(mute bool) []string { return []string{"set", control, choose(mute, "mute", "unmute")} },
	}
}

func appleMixer() mixer {
	return mixer{
		program: "osascript", system: "macOS",
		ask:   [][]string{{"-e", "get volume settings"}},
		parse: func(out []string) (sound, error) { return parseOsascript(out[0]) },
		set: func(level int) []string {
			return []string{"-e", "set volume output volume " + strconv.Itoa(level)}
		},
		mute: func(mute bool) []string {
			return []string{"-e", "set volume output muted " + strconv.FormatBool(mute)}
		},
	}
}

func percent(level int) string { return strconv.Itoa(level) + "%" }

func choose(on bool, yes, no string) string {
	if on {
		return yes
	}
	return no
}

// parseWpctl reads "Volume: 0.40" or "Volume: 0.40 [MUTED]".
func parseWpctl(out string) (sound, error) {
	fields := strings.Fields(out)
	if len(fields) < 2 || fields[0] != "Volume:" {
		return sound{}, unreadable(out)
	}
	volume, err := strconv.ParseFloat(fields[1], 64)
	if err != nil {
		return sound{}, unreadable(out)
	}
	const half = 0.5 // rounds: 0.29 is 28.999… percent
	return sound{Level: int(volume*100 + half), Muted: strings.Contains(out, "[MUTED]")}, nil
}

// parsePactl reads "Volume: front-left: 26214 / 40% / -23.88 dB, …" and "Mute: no". The channels' mean is the level.
func parsePactl(volume, mute string) (sound, error) {
	level, ok := meanPercent(volume)
	_, muted, found := strings.Cut(strings.TrimSpace(mute), "Mute: ")
	if !ok || !found {
		return sound{}, unreadable(volume + mute)
	}
	return sound{Level: level, Muted: muted == "yes"}, nil
}

// parseAmixer reads lines such as "Front Left: Playback 26214 [40%] [on]"; a control without a switch is never muted.
func parseAmixer(out string) (sound, error) {
	var playback []string
	for line := range strings.SplitSeq(out, "\n") {
		if strings.Contains(line, "%]") && !strings.Contains(line, "Capture") {
			playback = append(playback, line)
		}
	}
	text := strings.Join(playback, "\n")
	level, ok := meanPercent(text)
	if !ok {
		return sound{}, unreadable(out)
	}
	muted := strings.Contains(text, "[off]") && !strings.Contains(text, "[on]")
	return sound{Level: level, Muted: muted}, nil
}

// parseOsascript reads "output volume:40, input volume:75, alert volume:100, output muted:false". An output without a
// volume of its own, such as a display, says "missing value".
func parseOsascript(out string) (sound, error) {
	settings := make(map[string]string)
	for part := range strings.SplitSeq(strings.TrimSpace(out), ",") {
		if name, value, ok := strings.Cut(part, ":"); ok {
			settings[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	if settings["output volume"] == "missing value" {
		return sound{}, errors.New("the current output has no volume that can be set")
	}
	level, err := strconv.Atoi(settings["output volume"])
	if err != nil {
		return sound{}, unreadable(out)
	}
	return sound{Level: level, Muted: settings["output muted"] == "true"}, nil
}

// meanPercent returns the mean of all percentages in text; ok is false if there is none.
func meanPercent(text string) (mean int, ok bool) {
	sum, count := 0, 0
	for _, match := range regexp.MustCompile(`(\d+)%`).FindAllStringSubmatch(text, -1) {
		value, err := strconv.Atoi(match[1])
		if err != nil {
			return 0, false
		}
		sum, count = sum+value, count+1
	}
	if count == 0 {
		return 0, false
	}
	return (sum + count/2) / count, true
}

func unreadable(out string) error {
	return fmt.Errorf("its answer cannot be read: %q", strings.TrimSpace(out))
}
