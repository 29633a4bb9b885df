package cmd

import (
	"regexp"
	"strings"
	"testing"
)

// TestSkillNamesWhatThereIs asks that each command in toolx's own skill is one: its verb and its flags.
func TestSkillNamesWhatThereIs(t *testing.T) {
	flag := regexp.MustCompile(`--[a-z-]+`)
	commands := 0
	for line := range strings.Lines(document(t, "skills/toolx/SKILL.md")) {
		line, _, _ = strings.Cut(line, "  #")
		line, _, _ = strings.Cut(line, " -- ")
		if !strings.HasPrefix(line, "toolx ") || strings.HasPrefix(line, "toolx runs") {
			continue
		}
		commands++
		words := strings.Fields(line)[1:]
		verb, _, err := Command().Find(words[:1])
		if err != nil || !verb.HasParent() {
			t.Errorf("%s: no such verb", line)
			continue
		}
		for _, name := range flag.FindAllString(line, -1) {
			name = strings.TrimPrefix(name, "--")
			if verb.Flags().Lookup(name) == nil && verb.InheritedFlags().Lookup(name) == nil {
				t.Errorf("%s: %s has no --%s", line, verb.Name(), name)
			}
		}
	}
	if commands < 10 {
		t.Errorf("%d commands were found", commands)
	}
}
