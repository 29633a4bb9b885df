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

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/rawjson"
	"toolx/pkg/state"
)

// Baseline is what is known and accepted: findings with the reasons why, and tool definitions as they were when someone
// reviewed them. It is kept in a file, YAML or JSON, beside the config (docs/doctor.md).
type Baseline struct {
	Schema   int           `json:"schema" yaml:"schema"`
	Findings []Known       `json:"findings" yaml:"findings"`
	Tools    evidence.Pins `json:"tools,omitempty" yaml:"tools,omitempty"`
	// File is where the baseline was read from, as the user named it.
	File string `json:"-" yaml:"-"`

	repinned bool // the pins are those of the report: they accept what has drifted from earlier ones
}

// driftID is the check of pins.
const driftID = "definition-drift"

// Known is one accepted finding.
type Known struct {
	ID     string `json:"id" yaml:"id" mask:"-"`
	Server string `json:"server,omitempty" yaml:"server,omitempty" mask:"-"` // empty: any
	// Tool narrows it to one tool, Match to findings whose title or evidence contains the text; empty means all.
	Tool   string `json:"tool,omitempty" yaml:"tool,omitempty"`
	Match  string `json:"match,omitempty" yaml:"match,omitempty"`
	Reason string `json:"reason" yaml:"reason"`
}

// BaselineReport says what a baseline did to a report.
type BaselineReport struct {
	File string `json:"file" mask:"-"`
	// Known are the findings that it took away, Stale the entries that no finding fits although their check was made.
	Known []KnownFinding `json:"known"`
	Stale []Known        `json:"stale"`
}

// KnownFinding is a finding with the reason why it is accepted.
type KnownFinding struct {
	Finding check.Finding `json:"finding"`
	Reason  string        `json:"reason"`
}

// BaselineError says what is wrong with a baseline file.
type BaselineError struct {
	File string
	Err  error
}

func (e *BaselineError) Error() string {
	err := e.Err
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err // the path is there already
	}
	return fmt.Sprintf("baseline %s: %v", e.File, err)
}

// Unwrap gives the reason.
func (e *BaselineError) Unwrap() error { return e.Err }

// Hint says how to get a valid baseline.
func (e *BaselineError) Hint() string {
	switch {
	case errors.Is(e.Err, fs.ErrNotExist):
		return "toolx doctor --write-baseline " + e.File + " makes one of what is found now"
	case errors.Is(e.Err, errOutdated):
		return "write a new file with toolx doctor --write-baseline, and copy the reasons into it"
	}
	return "each finding needs an id and a reason: {id: slow-start, server: zwave, reason: loads a model}"
}

// errOutdated is part of the error about a file of another schema.
var errOutdated = errors.New("this toolx knows")

// baselineSchema counts incompatible changes of the file.
const baselineSchema = 2

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

// decode reads either format. An unknown key is an error, since a misspelt one would accept more than was meant.
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

// check refuses entries without an id or a reason.
func (b *Baseline) check() error {
	if b.Schema != baselineSchema {
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

// fits reports whether an entry means a finding.
func (k Known) fits(f check.Finding) bool {
	return k.ID == f.ID &&
		(k.Server == "" || k.Server == f.Server) &&
		(k.Tool == "" || f.Where != nil && k.Tool == f.Where.Tool) &&
		(strings.Contains(f.Title, k.Match) || strings.Contains(f.Evidence, k.Match))
}

// Apply takes the findings that the baseline knows out of the report. Report.Baseline then has them, and the entries
// that are stale.
func (b *Baseline) Apply(report *Report) {
	applied := &BaselineReport{File: b.File, Known: []KnownFinding{}, Stale: []Known{}}
	left := []check.Finding{}
	for _, finding := range report.Findings {
		if b.repinned && finding.ID == driftID {
			applied.Known = append(applied.Known, KnownFinding{finding, "pinned again"})
			continue
		}
		at := slices.IndexFunc(b.Findings, func(known Known) bool { return known.fits(finding) })
		if at < 0 || finding.Manner == check.Fact { // an entry for a fact is of a time when it was a note
			left = append(left, finding)
			continue
		}
		applied.Known = append(applied.Known, KnownFinding{finding, b.Findings[at].Reason})
	}
	for _, known := range b.Findings {
		if !slices.ContainsFunc(report.Findings, known.fits) && report.judged(known) {
			applied.Stale = append(applied.Stale, known)
		}
	}
	report.Findings, report.Baseline = left, applied
	report.settle()
}

// judged reports whether the check of an entry was made for its server, so that the absence of a finding means
// something: a server that did not start proves nothing.
func (r *Report) judged(known Known) bool {
	if _, exists := Find(known.ID); !exists {
		return true // no check will ever find it
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

// settle derives a report's status from its findings and the baseline again, after findings were taken out; other
// statuses stay.
func (r *Report) settle() {
	if r.Status == StatusProblems || r.Status == StatusHealthy {
		r.Status = StatusHealthy
		if r.Fails(check.Warning) {
			r.Status = StatusProblems
		}
	}
}

// knownFrom returns the entry for a finding: an earlier one that fits, or a new one. It names the tool, but not the
// evidence, which differs from run to run.
func knownFrom(finding check.Finding, earlier *Baseline, reason string) Known {
	for _, known := range earlier.Findings {
		if known.fits(finding) {
			return known
		}
	}
	known := Known{ID: finding.ID, Server: finding.Server, Reason: reason}
	if finding.Where != nil {
		known.Tool = finding.Where.Tool
	}
	return known
}

// Write writes the baseline into a file, as JSON if its name says so and otherwise as YAML. It replaces the file in one
// step. Only the user can read it: it says where a server is weak.
func (b *Baseline) Write(name string) error {
	data, err := b.encode(strings.EqualFold(filepath.Ext(name), ".json"))
	if err != nil {
		return &BaselineError{name, err}
	}
	temporary, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*") // made with 0600
	if err != nil {
		return &BaselineError{name, err}
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // gone after the renaming
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
	const head = "# What toolx doctor has found and someone has accepted; see docs/doctor.md. Tools\n" +
		"# are pinned: a definition that changes is a finding.\n"
	return append([]byte(head), data...), err
}

// NewBaseline makes a baseline of a report's findings that matter at least as much as severity, and of the tools of all
// servers. An entry of an earlier baseline (which may be nil) keeps its reason.
func NewBaseline(
	report *Report, fleet *evidence.Fleet, severity check.Severity, earlier *Baseline, reason string,
) *Baseline {
	b := &Baseline{Schema: baselineSchema, Findings: []Known{}, Tools: make(evidence.Pins), repinned: true}
	if earlier == nil {
		earlier = &Baseline{}
	}
	for _, finding := range report.Findings {
		measured := finding.Manner == check.Fact || finding.Manner == check.LengthFact
		if !finding.Severity.AtLeast(severity) || measured || finding.ID == driftID {
			continue
		}
		if known := knownFrom(finding, earlier, reason); !slices.Contains(b.Findings, known) {
			b.Findings = append(b.Findings, known)
		}
	}
	for _, e := range fleet.Servers {
		pins := make(map[string]json.RawMessage)
		for _, tool := range listing.Read(e).Tools {
			// Of two with one name the first counts, as in the comparison.
			if _, pinned := pins[tool.Name]; !pinned && tool.Name != "" {
				pins[tool.Name] = listing.Promises(tool.Raw)
			}
		}
		if len(listing.Read(e).Tools) > 0 {
			b.Tools[e.Server.Name] = pins
		}
	}
	return b
}
