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

// object is an object of SARIF 2.1.0 (OASIS, section 3).
type object = map[string]any

// writeSARIF writes the report as one run. Findings that a baseline accepts are included as suppressed, with their
// reasons.
func writeSARIF(out *bufio.Writer, report *doctor.Report, options Options) error {
	rules, results := []object{}, []object{}
	indexes := make(map[string]int) // of rules, by id
	add := func(f check.Finding) object {
		if _, known := indexes[f.ID]; !known {
			indexes[f.ID] = len(rules)
			rules = append(rules, ruleOf(f))
		}
		result := object{
			"ruleId": f.ID, "ruleIndex": indexes[f.ID], "level": sarifLevel(f.Severity),
			"message":             object{"text": strings.TrimSpace(findingText(f))},
			"locations":           locationsOf(report, f),
			"partialFingerprints": object{"toolx/v1": fingerprintOf(f)},
		}
		results = append(results, result)
		return result
	}
	for _, finding := range report.Findings {
		add(finding)
	}
	if report.Baseline != nil {
		for _, known := range report.Baseline.Known {
			add(known.Finding)["suppressions"] = []object{{"kind": "external", "justification": known.Reason}}
		}
	}
	driver := object{"name": "toolx doctor", "rules": rules}
	if options.Version != "" {
		driver["version"] = options.Version
	}
	return writeJSON(out, object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool": object{"driver": driver}, "invocations": []object{invocationOf(report)}, "results": results,
		}},
	}, options.Screen)
}

// fingerprintOf identifies a finding across runs. It leaves out the evidence, which differs between runs, and the
// places of a finding with several, some of which may be fixed.
func fingerprintOf(f check.Finding) string {
	parts := []string{f.ID, f.Server}
	if len(f.Places) > 1 {
		parts = append(parts, f.Title)
	} else if f.Where != nil {
		parts = append(parts, f.Where.Tool, f.Where.Pointer, f.Where.Key)
	}
	encoded, _ := json.Marshal(parts) // strings can always be encoded
	return string(encoded)
}

// ruleOf returns the rule for a finding's check. For an unknown check, it has the finding's title.
func ruleOf(f check.Finding) object {
	one, found := doctor.Find(f.ID)
	if !found {
		one = check.Check{ID: f.ID, Page: check.Page{Severity: f.Severity, Title: f.Title}}
	}
	text := one.Why
	if fix := strings.Join(one.Fix, "\n"); fix != "" {
		text += "\n\n" + fix
	}
	return object{
		"id":                   one.ID,
		"shortDescription":     object{"text": one.Title},
		"fullDescription":      object{"text": cmp.Or(one.Why, one.Title)},
		"help":                 object{"text": cmp.Or(strings.TrimSpace(text), one.Title), "markdown": one.Markdown()},
		"defaultConfiguration": object{"level": sarifLevel(one.Severity)},
		"properties":           object{"tags": []string{"mcp", string(one.Group)}},
	}
}

func sarifLevel(severity check.Severity) string {
	if severity == check.Info {
		return "note"
	}
	return string(severity)
}

// locationsOf returns the distinct locations of a finding.
func locationsOf(report *doctor.Report, f check.Finding) []object {
	var list []object
	for _, place := range f.AllPlaces() {
		location := locationOf(report, f.Server, place.Where)
		if !slices.ContainsFunc(list, func(other object) bool { return reflect.DeepEqual(other, location) }) {
			list = append(list, location)
		}
	}
	return list
}

// locationOf returns the config place of a finding or else of its server, and the name of the tool, key or server.
func locationOf(report *doctor.Report, name string, where *evidence.Where) object {
	var place string
	about, kind := "config", "namespace"
	if name != "" {
		about, kind = name, "module"
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
			about, kind = name+"__"+where.Tool, "function"
		case where.Key != "":
			about, kind = where.Key, "member"
		}
	}
	location := object{"logicalLocations": []object{{"fullyQualifiedName": about, "kind": kind}}}
	if place == "" {
		return location
	}
	file, line, column := splitPlace(place)
	uri := filepath.ToSlash(file)
	switch {
	case strings.HasPrefix(uri, "/"):
		uri = "file://" + uri
	case filepath.IsAbs(file): // a Windows drive
		uri = "file:///" + uri
	}
	physical := object{"artifactLocation": object{"uri": strings.ReplaceAll(uri, " ", "%20")}}
	if line > 0 {
		region := object{"startLine": line}
		if column > 0 {
			region["startColumn"] = column
		}
		physical["region"] = region
	}
	location["physicalLocation"] = physical
	return location
}

// splitPlace splits "file:line:column". The file name may contain colons.
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

// invocationOf reports whether the examination succeeded, and errors.
func invocationOf(report *doctor.Report) object {
	var notes []object
	note := func(text string) {
		notes = append(notes, object{"level": "error", "message": object{"text": render.Safe(text)}})
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
	invocation := object{"executionSuccessful": done}
	if notes != nil {
		invocation["toolExecutionNotifications"] = notes
	}
	return invocation
}
