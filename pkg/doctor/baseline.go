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
	"strings"

	"github.com/goccy/go-yaml"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/rawjson"
	"toolx/pkg/state"
)

// Baseline is what is known and accepted: findings with the reasons why, and tool
// definitions as they were when someone looked at them. It is kept in a file, YAML
// or JSON, beside the config (docs/doctor.md).
type Baseline struct {
	Schema   int     `json:"schema" yaml:"schema"`
	Findings []Known `json:"findings" yaml:"findings"`
	// Tools are Fingerprints of definitions, by server and plain name.
	Tools map[string]map[string]string `json:"tools,omitempty" yaml:"tools,omitempty"`

	// File is where the baseline was read from, as the user named it.
	File string `json:"-" yaml:"-"`
}

// Known is one accepted finding.
type Known struct {
	ID     string `json:"id" yaml:"id" mask:"-"`
	Server string `json:"server,omitempty" yaml:"server,omitempty" mask:"-"` // empty: any
	// Tool narrows it to one tool, Match to findings whose title or evidence holds
	// the text; empty means all.
	Tool   string `json:"tool,omitempty" yaml:"tool,omitempty"`
	Match  string `json:"match,omitempty" yaml:"match,omitempty"`
	Reason string `json:"reason" yaml:"reason"`
}

// BaselineReport says what a baseline did to a report.
type BaselineReport struct {
	File string `json:"file" mask:"-"`
	// Known are the findings that it took away, Stale the entries that no finding
	// fits any more although their check was made.
	Known []KnownFinding `json:"known"`
	Stale []Known        `json:"stale"`
}

// KnownFinding is a finding with the reason why it is accepted.
type KnownFinding struct {
	Finding check.Finding `json:"finding"`
	Reason  string        `json:"reason"`
}

// BaselineError says what is wrong with a baseline file. It is the user's to mend.
type BaselineError struct {
	File string
	Err  error
}

func (e *BaselineError) Error() string { return fmt.Sprintf("baseline %s: %v", e.File, e.Err) }

// Unwrap gives the reason.
func (e *BaselineError) Unwrap() error { return e.Err }

// Hint says how to get a baseline that is right.
func (e *BaselineError) Hint() string {
	if errors.Is(e.Err, fs.ErrNotExist) {
		return "toolx doctor --write-baseline " + e.File + " makes one of what is found now"
	}
	return "each finding needs an id and a reason: {id: slow-start, server: zwave, reason: loads a model}"
}

// baselineSchema counts incompatible changes of the file.
const baselineSchema = 1

// maxBaseline is the size in bytes of the largest baseline that is read.
const maxBaseline = 16 << 20

// ReadBaseline reads a file, YAML or JSON by its content. The error is a
// *BaselineError.
func ReadBaseline(file string) (*Baseline, error) {
	b := &Baseline{File: file}
	if err := b.read(); err != nil {
		return nil, &BaselineError{file, err}
	}
	return b, nil
}

func (b *Baseline) read() error {
	file, err := state.Open(b.File, os.O_RDONLY)
	if err != nil {
		return plainPathError(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxBaseline+1))
	switch {
	case err != nil:
		return plainPathError(err)
	case len(data) > maxBaseline:
		return fmt.Errorf("it is larger than %d MiB", maxBaseline>>20)
	}
	if err := b.decode(data); err != nil {
		return err
	}
	return b.check()
}

// decode reads either format; unknown keys are mistakes, since a misspelt one would
// accept more than was meant.
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

// check refuses what cannot be meant.
func (b *Baseline) check() error {
	if b.Schema != baselineSchema {
		return fmt.Errorf("schema is %d, and this toolx knows %d", b.Schema, baselineSchema)
	}
	for i, known := range b.Findings {
		switch {
		case known.ID == "":
			return fmt.Errorf("findings[%d] has no id", i)
		case strings.TrimSpace(known.Reason) == "":
			return fmt.Errorf("findings[%d] (%s) has no reason", i, known.ID)
		}
	}
	return nil
}

// plainPathError takes the path off an error that will name it anyway.
func plainPathError(err error) error {
	var wrapped *fs.PathError
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// fits reports whether an entry means a finding.
func (k Known) fits(f check.Finding) bool {
	return k.ID == f.ID &&
		(k.Server == "" || k.Server == f.Server) &&
		(k.Tool == "" || f.Where != nil && k.Tool == f.Where.Tool) &&
		(strings.Contains(f.Title, k.Match) || strings.Contains(f.Evidence, k.Match))
}

// Apply takes the findings that the baseline knows out of the report and says in
// Report.Baseline which, and which entries are stale.
func (b *Baseline) Apply(report *Report) {
	applied := &BaselineReport{File: b.File, Known: []KnownFinding{}, Stale: []Known{}}
	used := make([]bool, len(b.Findings))
	left := []check.Finding{}
	for _, finding := range report.Findings {
		at := -1
		for i, known := range b.Findings {
			if known.fits(finding) {
				used[i] = true
				if at < 0 {
					at = i
				}
			}
		}
		if at < 0 {
			left = append(left, finding)
			continue
		}
		applied.Known = append(applied.Known, KnownFinding{finding, b.Findings[at].Reason})
	}
	for i, known := range b.Findings {
		if !used[i] && report.judged(known) {
			applied.Stale = append(applied.Stale, known)
		}
	}
	report.Findings, report.Baseline = left, applied
	report.settle()
}

// judged reports whether the check of an entry was made where the entry looks, so that
// finding nothing means something: a server that did not start proves nothing.
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

// settle takes a report's status from its findings and the baseline again, after some
// findings were taken out; a status that says more than those stays.
func (r *Report) settle() {
	if r.Status != StatusProblems && r.Status != StatusHealthy {
		return
	}
	r.Status = StatusHealthy
	if len(r.Baseline.Stale) > 0 {
		r.Status = StatusProblems
	}
	for _, finding := range r.Findings {
		if finding.Severity.AtLeast(check.Warning) {
			r.Status = StatusProblems
		}
	}
}

// NewBaseline makes a baseline of a report's findings that matter at least as much
// as severity, and of the tools of all servers. Reasons are taken from an earlier
// baseline (nil: there is none); where it has none, reason stands.
func NewBaseline(report *Report, fleet *evidence.Fleet, severity check.Severity, earlier *Baseline, reason string) *Baseline {
	b := &Baseline{Schema: baselineSchema, Findings: []Known{}, Tools: make(map[string]map[string]string)}
	if earlier == nil {
		earlier = &Baseline{}
	}
	for _, finding := range report.Findings {
		if finding.Severity.AtLeast(severity) {
			b.add(knownFrom(finding, earlier, reason))
		}
	}
	for _, e := range fleet.Servers {
		if tools := listing.Read(e).Tools; len(tools) > 0 {
			b.Tools[e.Server.Name] = pinsOf(tools)
		}
	}
	return b
}

// pinsOf are the fingerprints of tools; of two with one name the first counts, as it
// does where they are compared.
func pinsOf(tools []*listing.Definition) map[string]string {
	pins := make(map[string]string)
	for _, tool := range tools {
		if _, pinned := pins[tool.Name]; !pinned && tool.Name != "" {
			pins[tool.Name] = listing.Fingerprint(tool.Raw)
		}
	}
	return pins
}

// add puts an entry in, once.
func (b *Baseline) add(known Known) {
	for _, other := range b.Findings {
		if other == known {
			return
		}
	}
	b.Findings = append(b.Findings, known)
}

// knownFrom is the entry for a finding: an earlier one that fits, else a new one. It
// names the tool, and never the evidence, which differs from run to run.
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

// Write writes the baseline into a file: JSON where its name says so, else YAML.
// Whatever stands there is replaced in one step.
func (b *Baseline) Write(file string) error {
	data, err := b.encode(strings.EqualFold(filepath.Ext(file), ".json"))
	if err != nil {
		return &BaselineError{file, err}
	}
	if err := replaceFile(file, data); err != nil {
		return &BaselineError{file, plainPathError(err)}
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
	data, err := yaml.MarshalWithOptions(b, yaml.IndentSequence(true))
	const head = "# What toolx doctor has found and someone has accepted; see docs/doctor.md. Tools\n" +
		"# are pinned: a definition that changes is a finding.\n"
	return append([]byte(head), data...), err
}

// replaceFile writes beside the file and renames, so that a reader sees the old
// text or the new one. Only the user can read it: it says where a server is weak.
func replaceFile(file string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*") // made with 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // it is gone where the renaming succeeded
	_, err = temporary.Write(data)
	if err := errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), file)
}
