package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/render"
)

// The objects of SARIF 2.1.0 (OASIS, section 3), as far as toolx has something to put into them.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string       `json:"id"`
		Short   sarifMessage `json:"shortDescription"`
		Full    sarifMessage `json:"fullDescription"`
		Help    sarifHelp    `json:"help"`
		Default sarifDefault `json:"defaultConfiguration"`
		Props   sarifProps   `json:"properties"`
	}
	sarifHelp struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifProps struct {
		Tags []string `json:"tags"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifResult struct {
		Rule         string             `json:"ruleId"`
		Index        int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifMessage       `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// writeSARIF writes the report as one run. Findings that a baseline knows are included, suppressed, with their reasons.
func writeSARIF(out *bufio.Writer, report *doctor.Report, options Options) error {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "toolx doctor", Version: options.Version, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{sarifInvocationOf(report)},
		Results:     []sarifResult{},
	}
	for _, finding := range report.Findings {
		run.add(report, finding, "")
	}
	if report.Baseline != nil {
		for _, known := range report.Baseline.Known {
			run.add(report, known.Finding, known.Reason)
		}
	}
	return writeJSON(out, sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	}, options.Screen)
}

// add adds a finding, and its check to the rules where it is not there yet.
func (r *sarifRun) add(report *doctor.Report, f check.Finding, accepted string) {
	rules := &r.Tool.Driver.Rules
	index := slices.IndexFunc(*rules, func(rule sarifRule) bool { return rule.ID == f.ID })
	if index < 0 {
		index = len(*rules)
		*rules = append(*rules, sarifRuleOf(f))
	}
	result := sarifResult{
		Rule: f.ID, Index: index, Level: sarifLevel(f.Severity),
		Message:      sarifMessage{strings.TrimSpace(findingText(f))},
		Locations:    sarifLocationsOf(report, f),
		Fingerprints: map[string]string{"toolx/v1": fingerprintOf(f)},
	}
	if accepted != "" {
		result.Suppressions = []sarifSuppression{{Kind: "external", Justification: accepted}}
	}
	r.Results = append(r.Results, result)
}

// fingerprintOf identifies a finding across runs by what it is about. What was seen differs from run to run, and a
// finding with several places stays the same when some of them are fixed.
func fingerprintOf(f check.Finding) string {
	parts := []string{f.ID, f.Server}
	if len(f.Places) > 1 {
		parts = append(parts, f.Title)
	} else if f.Where != nil {
		parts = append(parts, f.Where.Tool, f.Where.Pointer, f.Where.Key)
	}
	encoded, _ := json.Marshal(parts) // strings always can
	return string(encoded)
}

// sarifRuleOf is the rule of a check; one that is not in the table has its title.
func sarifRuleOf(f check.Finding) sarifRule {
	one, found := doctor.Find(f.ID)
	if !found {
		one = check.Check{ID: f.ID, Page: check.Page{Severity: f.Severity, Title: f.Title}}
	}
	text := one.Why
	if fix := strings.Join(one.Fix, "\n"); fix != "" {
		text += "\n\n" + fix
	}
	return sarifRule{
		ID:      one.ID,
		Short:   sarifMessage{one.Title},
		Full:    sarifMessage{cmp.Or(one.Why, one.Title)},
		Help:    sarifHelp{Text: cmp.Or(strings.TrimSpace(text), one.Title), Markdown: one.Markdown()},
		Default: sarifDefault{sarifLevel(one.Severity)},
		Props:   sarifProps{Tags: []string{"mcp", string(one.Group)}},
	}
}

func sarifLevel(severity check.Severity) string {
	if severity == check.Info {
		return "note"
	}
	return string(severity)
}

// sarifLocationsOf are the locations of a finding's places, each once.
func sarifLocationsOf(report *doctor.Report, f check.Finding) []sarifLocation {
	var list []sarifLocation
	for _, place := range f.AllPlaces() {
		location := sarifLocationOf(report, f.Server, place.Where)
		if !slices.ContainsFunc(list, func(other sarifLocation) bool { return reflect.DeepEqual(other, location) }) {
			list = append(list, location)
		}
	}
	return list
}

// sarifLocationOf returns a place in the config, that of a finding or of its server, and the name of what it is about.
func sarifLocationOf(report *doctor.Report, name string, where *evidence.Where) sarifLocation {
	var place string
	logical := sarifLogical{Name: "config", Kind: "namespace"}
	if name != "" {
		logical = sarifLogical{Name: name, Kind: "module"}
		for _, server := range report.Servers {
			if server.Name == name {
				place = server.Where
			}
		}
	}
	if where != nil {
		place = cmp.Or(where.File, place)
		switch {
		case where.Tool != "":
			logical = sarifLogical{Name: name + "__" + where.Tool, Kind: "function"}
		case where.Key != "":
			logical = sarifLogical{Name: where.Key, Kind: "member"}
		}
	}
	location := sarifLocation{Logical: []sarifLogical{logical}}
	if place == "" {
		return location
	}
	file, line, column := splitPlace(place)
	uri := filepath.ToSlash(file)
	switch {
	case strings.HasPrefix(uri, "/"):
		uri = "file://" + uri
	case filepath.IsAbs(file): // a drive of Windows
		uri = "file:///" + uri
	}
	location.Physical = &sarifPhysical{Artifact: sarifArtifact{strings.ReplaceAll(uri, " ", "%20")}}
	if line > 0 {
		location.Physical.Region = &sarifRegion{line, column}
	}
	return location
}

// splitPlace cuts "file:line:column" apart; the file's name may hold colons.
func splitPlace(place string) (file string, line, column int) {
	numbers := [2]int{}
	file = place
	for i := range numbers {
		at := strings.LastIndexByte(file, ':')
		if at < 0 {
			break
		}
		number, err := strconv.Atoi(file[at+1:])
		if err != nil {
			break
		}
		file, numbers[i] = file[:at], number
	}
	if numbers[1] == 0 { // a line alone
		return file, numbers[0], 0
	}
	return file, numbers[1], numbers[0]
}

// sarifInvocationOf reports whether the doctor could do its work, and what stood in its way.
func sarifInvocationOf(report *doctor.Report) sarifInvocation {
	var notes []sarifNotification
	note := func(text string) {
		notes = append(notes, sarifNotification{"error", sarifMessage{render.Safe(text)}})
	}
	if report.Error != "" {
		note(report.Error)
	}
	if remark := statusRemark(report); remark != "" {
		note(remark)
	}
	for _, server := range report.Servers {
		if server.Status != "ready" {
			note(fmt.Sprintf("server %s was not examined: %s", server.Name, server.Because))
		}
	}
	if report.Baseline != nil {
		for _, known := range report.Baseline.Stale {
			note(staleTitle + ": " + staleText(known))
		}
	}
	done := report.Status == doctor.StatusHealthy || report.Status == doctor.StatusProblems
	return sarifInvocation{Successful: done, Notifications: notes}
}
