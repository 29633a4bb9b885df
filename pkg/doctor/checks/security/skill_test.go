package security_test

import (
	"strings"
	"testing"

	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
)

func TestSkillInvalid(t *testing.T) {
	t.Parallel()
	const (
		entry = `{"uri":"skill://x/SKILL.md","frontmatter":{"name":"x","description":"X"},"resources":"dynamic"}`
		uri   = `{"uri":"skill://x/SKILL.md"}`
		text  = `{"contents":[{"text":"---\nname: x\ndescription: X\n---\n"}]}`
	)
	list := doctortest.Answer("skills/list", `{}`, `{"skills":[`+entry+`]}`)
	for name, test := range map[string]struct {
		exchanges []*evidence.Exchange
		pointer   string
		text      string // empty: no finding
	}{
		"no skills": {},
		"the same":  {exchanges: []*evidence.Exchange{list, doctortest.Answer("resources/read", uri, text)}},
		"not read":  {exchanges: []*evidence.Exchange{list}},
		"silent":    {exchanges: []*evidence.Exchange{list, doctortest.Exchange("resources/read", uri, "", "")}},
		"refused": {
			[]*evidence.Exchange{list, doctortest.Exchange("resources/read", uri, "", `{"code":-32602}`)},
			"/skills/0", "skill://x/SKILL.md: SKILL.md: was answered with error -32602",
		},
		"changed": {
			[]*evidence.Exchange{
				list,
				doctortest.Answer("resources/read", uri, strings.Replace(text, ": X", ": Y", 1)),
			},
			"/skills/0", `SKILL.md: "description" in its frontmatter differs`,
		},
		"second is invalid": {
			[]*evidence.Exchange{
				doctortest.Answer("skills/list", `{}`, `{"skills":[`+entry+`,{"uri":"skill://y/SKILL.md"}]}`),
			},
			"/skills/1", "skill://y/SKILL.md: missing 'frontmatter'",
		},
		"list refused": {
			[]*evidence.Exchange{doctortest.Exchange("skills/list", `{}`, "", `{"code":-32601}`)},
			"", "skills/list was answered with error -32601",
		},
	} {
		e := doctortest.Listing("2025-11-25")
		e.Clean.Exchanges = append(e.Clean.Exchanges, test.exchanges...)
		found := doctortest.Ask("skill-invalid")(e)
		if test.text == "" {
			if len(found) > 0 {
				t.Errorf("%s: unexpected: %+v", name, found)
			}
			continue
		}
		if len(found) == 0 || !strings.Contains(found[0].Evidence, test.text) ||
			found[0].Where.Pointer != test.pointer {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
