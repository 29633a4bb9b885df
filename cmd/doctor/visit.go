package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolx/cmd/cli"
	"toolx/cmd/correct"
	"toolx/cmd/exit"
	"toolx/cmd/person"
	"toolx/cmd/toolset"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/recording"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// visit is one run of the doctor.
type visit struct {
	tools     *toolset.Opener
	options   Options
	config    *config.Config // nil for a server on the command line
	configErr error          // why the config could not be read
	servers   []*config.Server
	recorded  *doctor.Recorded // instead of servers
	whole     bool             // all servers and the config, not some of them
	calls     []evidence.Call
	safe      bool // --call safe
	environ   []string
	selection doctor.Selection
	baseline  *doctor.Baseline // nil if none was given
	reports   []reportFile
}

// newVisit reads the config and the files that the options name. All errors are usage errors.
func newVisit(o Options) (*visit, error) {
	v := &visit{tools: o.Tools, options: o, selection: doctor.Selection{Only: o.only, Skip: o.skip}}
	for _, step := range []func() error{
		v.chooseServers, v.readCalls, v.readEnviron, v.readSeverities, v.readBaseline, v.recordEvents, v.readReports,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// chooseServers finds the servers to examine: the command after --, else the named servers, disabled or not, else all
// that are not disabled.
func (v *visit) chooseServers() error {
	adHoc, err := v.tools.Flags.AdHoc(v.options.command)
	if err != nil {
		return err
	}
	if adHoc != nil && len(v.options.servers) > 0 {
		return fault.Usage("cannot combine a server's name and --url",
			"toolx doctor SERVER, or toolx doctor --url URL")
	}
	if adHoc != nil {
		v.servers = []*config.Server{adHoc}
		return nil
	}
	if path := cli.RecordingNamed(v.options.servers); path != "" {
		return v.readRecording(path)
	}
	loaded, err := v.tools.Consent.LoadConfig()
	if err != nil {
		v.configErr = err // it becomes a finding
		return nil
	}
	v.config = loaded
	names, err := cli.ExpandClients(loaded.Servers, v.options.servers)
	if err != nil {
		return err
	}
	for _, name := range cli.Distinct(names) {
		const fix = "toolx doctor -- COMMAND… examines a server that is not in the config"
		server, err := cli.ServerNamed(loaded.Servers, name, fix)
		if err != nil {
			return err
		}
		v.servers = append(v.servers, server)
	}
	if len(v.servers) > 0 {
		return nil
	}
	v.whole = true
	v.servers, _ = cli.ServersNamed(loaded.Servers, nil)
	if len(loaded.Files) == 0 && len(v.servers) == 0 {
		return fault.Usage("no server to examine: no config was found, and no command was given",
			"toolx doctor -- npx -y @modelcontextprotocol/server-everything; toolx servers lists those of other clients")
	}
	return nil
}

// readRecording reads a recording, which is judged instead of servers.
func (v *visit) readRecording(path string) error {
	v.recorded = new(doctor.Recorded)
	err := recording.ReadFile(path, v.recorded.Take, func(why string) { v.tools.Out.Log.Warn(why) })
	if err != nil {
		return correct.NewForgotten(path, path+": "+fault.Reason(err),
			"toolx doctor FILE reads what --record has written")
	}
	return nil
}

// leaveUntrusted leaves out the servers that need the user's consent. It returns an error if one of them was named, or
// if there are no others.
func (v *visit) leaveUntrusted(ctx context.Context) error {
	if err := v.tools.Consent.Ask(ctx, v.servers...); err != nil {
		return err
	}
	var trusted []*config.Server
	var waiting []servers.Opened
	for _, server := range v.servers {
		if err := server.CheckConsent(); err != nil {
			waiting = append(waiting, servers.Opened{Server: server.Name, Err: err})
			continue
		}
		trusted = append(trusted, server)
	}
	for _, err := range person.UntrustedTogether(waiting) {
		if !v.whole || len(trusted) == 0 {
			return exit.Usage(err)
		}
		v.tools.Out.WarnOnce(err.Error() + "; " + fault.HintOf(err))
	}
	v.servers = trusted
	return nil
}

// readCalls reads "TOOL {json}" and finds the server of each tool; with "safe", the doctor chooses the calls.
func (v *visit) readCalls() error {
	var names []string
	for _, server := range v.servers {
		names = append(names, server.Name)
	}
	for _, text := range v.options.calls {
		if text == "safe" {
			v.safe = true
			continue
		}
		tool, object, err := ReadToolCall(text)
		if err != nil {
			return err
		}
		call := evidence.Call{Tool: tool, Arguments: object}
		if server := exec.ServerOf(tool, names); server != "" {
			call.Server = server
		} else if len(v.servers) > 1 {
			return fault.Usage("--call "+strconv.Quote(text)+" does not name the server",
				"--call 'SERVER__"+tool+" …', with SERVER one of: "+strings.Join(names, ", "))
		}
		v.calls = append(v.calls, call)
	}
	return nil
}

// ReadToolCall reads the value of --call: a tool's name and optionally a JSON object of arguments.
func ReadToolCall(text string) (tool string, arguments json.RawMessage, err error) {
	tool, given, _ := strings.Cut(strings.TrimSpace(text), " ")
	arguments = json.RawMessage(cmp.Or(strings.TrimSpace(given), "{}"))
	var object map[string]json.RawMessage
	if tool == "" || strings.HasPrefix(tool, "{") || json.Unmarshal(arguments, &object) != nil {
		return "", nil, fault.Usage("--call "+strconv.Quote(text)+" is not a tool and a JSON object",
			`--call 'echo {"message":"hi"}'`)
	}
	return tool, arguments, nil
}

// readEnviron reduces the environment to that of another client.
func (v *visit) readEnviron() (err error) {
	if v.options.envLike != "" {
		v.environ, err = cmdline.EnvLike(v.options.envLike, os.Environ())
	}
	return err
}

// readSeverities reads the severities in the config.
func (v *visit) readSeverities() error {
	if v.config == nil {
		return nil
	}
	v.selection.Severities = make(map[string]check.Severity)
	for _, id := range slices.Sorted(maps.Keys(v.config.Doctor.Severity)) {
		if _, found := doctor.Find(id); !found {
			text := fmt.Sprintf("%s: doctor.severity: no check named '%s'",
				v.config.Doctor.Origins[id], id)
			if near := doctor.Near(id); near != "" {
				text += fmt.Sprintf(", did you mean '%s'?", near)
			}
			v.tools.Out.Log.Warn(text)
		}
		v.selection.Severities[id] = check.Severity(v.config.Doctor.Severity[id])
	}
	return nil
}

func (v *visit) readBaseline() error {
	if v.options.baseline == "" {
		return nil
	}
	baseline, err := doctor.ReadBaseline(v.options.baseline)
	if err != nil {
		return exit.Usage(err)
	}
	v.baseline = baseline
	if file := v.options.baseline; len(baseline.Tools) > 0 && v.options.writeBaseline == "" {
		v.tools.Out.Say("%s has tools in the form of an earlier version; to update it: %s", render.Safe(file),
			render.Safe(exec.ShellLine("toolx", "doctor", "--baseline", file, "--write-baseline", file)))
	}
	return nil
}

// recordEvents writes calls to the execution log and messages to the trace, as for every verb (EXEC-11).
func (v *visit) recordEvents() error {
	return v.tools.Record(cmp.Or(v.config, &config.Config{}).Defaults.Log, nil)
}

// examine starts the servers and evaluates the evidence.
func (v *visit) examine(ctx context.Context) (*evidence.Fleet, *doctor.Report) {
	doing, stop := v.tools.Out.ShowDoing("doctor")
	options := examination(v.tools)
	options.Calls, options.Safe, options.CallTimeout = v.calls, v.safe, v.tools.Flags.Timeout
	options.Environ = v.environ
	options.Watch = v.tools.Bus.Emit
	options.Doing = func(server, what string) {
		if len(v.servers) > 1 {
			what = server + ": " + what
		}
		doing(what)
	}
	if v.baseline != nil {
		options.Pinned = v.baseline.Pins()
	}
	began := time.Now()
	fleet := v.recorded.Fleet()
	if v.recorded == nil {
		fleet = doctor.Examine(ctx, v.config, v.servers, options)
	}
	fleet.ConfigErr = v.configErr
	if v.config != nil && (v.whole || len(v.tools.Consent.Named) > 0) {
		fleet.Survey = config.NewSurvey(config.Options{}, v.config.Servers)
	}
	if !v.whole {
		fleet.Config = nil // the report is about servers, not the config
	}
	fleet.Budget = v.options.budget.Or(cmp.Or(v.config, &config.Config{}).Budget)
	judged := doctor.Judge(fleet, v.selection)
	judged.Duration = time.Since(began)
	stop()
	return fleet, judged
}

// accept removes the findings in the baseline from the report, and writes a new baseline if requested.
func (v *visit) accept(fleet *evidence.Fleet, judged *doctor.Report) error {
	file := v.options.writeBaseline
	if file == "" {
		if v.baseline != nil {
			v.baseline.Apply(judged)
		}
		return nil
	}
	if judged.Status != doctor.StatusHealthy && judged.Status != doctor.StatusProblems {
		v.tools.Out.Log.Warn(file + " was not written, because not everything was examined")
		return nil
	}
	severity := check.Warning
	if v.options.failOn == "info" {
		severity = check.Info
	}
	earlier, err := v.earlierBaseline(file)
	if err != nil {
		return exit.Usage(err)
	}
	reason := "accepted on " + time.Now().Format(time.DateOnly) + "; say why"
	written := doctor.NewBaseline(judged, fleet, severity, earlier, reason)
	if err := written.Write(file); err != nil {
		return exit.Usage(err)
	}
	tools := 0
	for _, pins := range written.Pins() {
		tools += len(pins)
	}
	v.tools.Out.Say("%s: %s and %s; add a reason to each finding",
		render.Safe(file), words.Count(len(written.Findings), "finding"), words.Count(tools, "tool"))
	written.File = file
	written.Apply(judged)
	return nil
}

// earlierBaseline returns the baseline whose reasons to keep: the given one, else the one in the file to write, or nil
// if there is none. It returns an error if that file is not a baseline.
func (v *visit) earlierBaseline(file string) (*doctor.Baseline, error) {
	if v.baseline != nil {
		return v.baseline, nil
	}
	earlier, err := doctor.ReadBaseline(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return earlier, err
}
