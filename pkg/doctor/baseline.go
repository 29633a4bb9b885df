package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"toolx/pkg/contract"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/rawjson"
	"toolx/pkg/state"
)

// Baseline is a file, YAML or JSON, with accepted findings and their reasons, and with reviewed tool definitions
// (docs/doctor.md).
type Baseline struct {
	Schema   int     `json:"schema" yaml:"schema"`
	Findings []Known `json:"findings" yaml:"findings"`
	// Servers pin the tools of servers, in the form of a snapshot.
	Servers contract.Set `json:"servers,omitempty" yaml:"servers,omitempty"`
	// Tools are the pins of a file of schema 2, in the form of that version.
	Tools evidence.Pins `json:"tools,omitempty" yaml:"tools,omitempty"`
	// File is the path that the user gave.
	File string `json:"-" yaml:"-"`

	repinned bool // the pins come from this report, so drift from earlier ones is accepted
}

// driftID is the check that compares tools with their pins.
const driftID = "definition-drift"

// Known is one accepted finding.
type Known struct {
	ID     string `json:"id" yaml:"id" mask:"-"`
	Server string `json:"server,omitempty" yaml:"server,omitempty" mask:"-"` // empty: any
	// Tool limits the entry to one tool, Match to findings whose title or evidence contains it; empty means all.
	Tool   string `json:"tool,omitempty" yaml:"tool,omitempty"`
	Match  string `json:"match,omitempty" yaml:"match,omitempty"`
	Reason string `json:"reason" yaml:"reason"`
}

// BaselineReport is the effect of a baseline on a report.
type BaselineReport struct {
	File string `json:"file" mask:"-"`
	// Known are the accepted findings, Stale the entries that match no finding although their check ran.
	Known []KnownFinding `json:"known"`
	Stale []Known        `json:"stale"`
}

// KnownFinding is an accepted finding.
type KnownFinding struct {
	Finding check.Finding `json:"finding"`
	Reason  string        `json:"reason"`
}

// BaselineError is an error about a baseline file.
type BaselineError struct {
	File string
	Err  error
}

func (e *BaselineError) Error() string {
	err := e.Err
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err // File is the path
	}
	return fmt.Sprintf("baseline %s: %v", e.File, err)
}

// Unwrap returns Err.
func (e *BaselineError) Unwrap() error { return e.Err }

// Hint returns how to get a valid baseline.
func (e *BaselineError) Hint() string {
	switch {
	case errors.Is(e.Err, fs.ErrNotExist):
		return "create it with toolx doctor --write-baseline " + e.File
	case errors.Is(e.Err, errOutdated):
		return "write a new file with toolx doctor --write-baseline, and copy the reasons into it"
	}
	return "each finding needs an id and a reason: {id: slow-start, server: zwave, reason: loads a model}"
}

// errOutdated is part of the error about a file with another schema.
var errOutdated = errors.New("this toolx knows")

// baselineSchema counts incompatible changes of the file.
const baselineSchema = 3

// ReadBaseline reads a file, YAML or JSON by its content. The error is a *BaselineError.
func ReadBaseline(name string) (*Baseline, error) {
	const largest = 16 << 20 // bytes
	b := &Baseline{File: name}
	file, err := state.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, &BaselineError{name, err}
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, largest+1))
	if err == nil && len(data) > largest {
		err = fmt.Errorf("it is larger than %d MiB", largest>>20)
	}
	if err == nil {
		err = b.decode(data)
	}
	if err == nil {
		err = b.check()
	}
	if err != nil {
		return nil, &BaselineError{name, err}
	}
	return b, nil
}

// decode reads either format. An unknown key is an error, because a misspelt one would accept too much.
func (b *Baseline) decode(data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("it is empty")
	}
	if !json.Valid(data) {
		return yaml.UnmarshalWithOptions(data, b, yaml.Strict())
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(b)
}

// check requires an id and a reason in each entry.
func (b *Baseline) check() error {
	if b.Schema != baselineSchema && b.Schema != baselineSchema-1 {
		return fmt.Errorf("schema is %d, and %w %d", b.Schema, errOutdated, baselineSchema)
	}
	for i, known := range b.Findings {
		switch {
		case known.ID == "":
			return fmt.Errorf("findings[%d] has no id", i)
		case strings.TrimSpace(known.Reason) == "":
			return fmt.Errorf("findings[%d] (%s) has no reason", i, known.ID)
		}
	}
	return b.Tools.Check()
}

// matches reports whether an entry accepts a finding.
func (k Known) matches(f check.Finding) bool {
	return k.ID == f.ID &&
		(k.Server == "" || k.Server == f.Server) &&
		(k.Tool == "" || f.Where != nil && k.Tool == f.Where.Tool) &&
		(strings.Contains(f.Title, k.Match) || strings.Contains(f.Evidence, k.Match))
}

// Apply moves accepted findings from the report to Report.Baseline, and adds stale entries there.
func (b *Baseline) Apply(report *Report) {
	applied := &BaselineReport{File: b.File, Known: []KnownFinding{}, Stale: []Known{}}
	left := []check.Finding{}
	for _, finding := range report.Findings {
		if b.repinned && finding.ID == driftID {
			applied.Known = append(applied.Known, KnownFinding{finding, "pinned again"})
			continue
		}
		at := slices.IndexFunc(b.Findings, func(known Known) bool { return known.matches(finding) })
		if at < 0 || finding.Manner == check.Fact { // facts were notes once, so old files have entries for them
			left = append(left, finding)
			continue
		}
		applied.Known = append(applied.Known, KnownFinding{finding, b.Findings[at].Reason})
	}
	for _, known := range b.Findings {
		if !slices.ContainsFunc(report.Findings, known.matches) && report.checked(known) {
			applied.Stale = append(applied.Stale, known)
		}
	}
	report.Findings, report.Baseline = left, applied
	report.updateStatus()
}

// checked reports whether the check of an entry ran for its server. Otherwise a missing finding proves nothing.
func (r *Report) checked(known Known) bool {
	if _, exists := Find(known.ID); !exists {
		return true // the check no longer exists
	}
	made := false
	for _, one := range r.Checks {
		if one.ID != known.ID || known.Server != "" && one.Server != "" && one.Server != known.Server {
			continue
		}
		if one.Outcome == check.Skipped || one.Outcome == check.Broke {
			return false
		}
		made = true
	}
	return made
}

// updateStatus sets the status again after Apply removed findings. Statuses other than problems and healthy do not
// change.
func (r *Report) updateStatus() {
	if r.Status == StatusProblems || r.Status == StatusHealthy {
		r.Status = StatusHealthy
		if r.Fails(check.Warning) {
			r.Status = StatusProblems
		}
	}
}

// Pins returns the pinned tools, nil if there are none.
func (b *Baseline) Pins() evidence.Pins {
	if b.Servers == nil {
		return b.Tools
	}
	pins := make(evidence.Pins)
	for server, snapshot := range b.Servers {
		pins[server] = snapshot.Lists[contract.Tool]
	}
	return pins
}

// entryFor returns an earlier entry that matches a finding, or a new one. A new one names the tool, but not the
// evidence, which differs from run to run.
func entryFor(finding check.Finding, earlier *Baseline, reason string) Known {
	for _, known := range earlier.Findings {
		if known.matches(finding) {
			return known
		}
	}
	known := Known{ID: finding.ID, Server: finding.Server, Reason: reason}
	if finding.Where != nil {
		known.Tool = finding.Where.Tool
	}
	return known
}

// Write replaces a file atomically, with JSON if its name ends in .json and YAML otherwise. Only the user can read it,
// because it lists a server's weaknesses.
func (b *Baseline) Write(name string) error {
	data, err := b.encode(strings.EqualFold(filepath.Ext(name), ".json"))
	if err != nil {
		return &BaselineError{name, err}
	}
	temporary, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*") // created with mode 0600
	if err != nil {
		return &BaselineError{name, err}
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // does nothing after Rename
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), name)
	}
	if err != nil {
		return &BaselineError{name, err}
	}
	return nil
}

func (b *Baseline) encode(asJSON bool) ([]byte, error) {
	if asJSON {
		compact, err := rawjson.Marshal(b)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = json.Indent(&out, compact, "", "  ")
		out.WriteByte('\n')
		return out.Bytes(), err
	}
	data, err := yaml.MarshalWithOptions(b, yaml.IndentSequence(true), yaml.UseLiteralStyleIfMultiline(true))
	const head = "# Findings of toolx doctor that are accepted, and reviewed tools; see docs/doctor.md.\n" +
		"# A pinned tool whose definition changes is a finding.\n"
	return append([]byte(head), data...), err
}

// NewBaseline returns a baseline with a report's findings of at least a severity, and the tools of all servers. Entries
// of an earlier baseline, which may be nil, keep their reasons.
func NewBaseline(
	report *Report, fleet *evidence.Fleet, severity check.Severity, earlier *Baseline, reason string,
) *Baseline {
	b := &Baseline{Schema: baselineSchema, Findings: []Known{}, Servers: listing.Tools(fleet), repinned: true}
	if earlier == nil {
		earlier = &Baseline{}
	}
	for _, finding := range report.Findings {
		measured := finding.Manner == check.Fact || finding.Manner == check.LengthFact
		if !finding.Severity.AtLeast(severity) || measured || finding.ID == driftID {
			continue
		}
		if known := entryFor(finding, earlier, reason); !slices.Contains(b.Findings, known) {
			b.Findings = append(b.Findings, known)
		}
	}
	return b
}
