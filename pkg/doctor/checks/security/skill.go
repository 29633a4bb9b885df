package security

import (
	"encoding/json"
	"errors"
	"fmt"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/extension"
	"toolx/pkg/rawjson"
)

// askSkillInvalid reports invalid entries of skills/list, and files that differ from them.
func askSkillInvalid(e *evidence.Evidence) (found []check.Finding) {
	read := func(uri string) (json.RawMessage, error) {
		switch x := e.Clean.Read(uri); {
		case !x.Answered(): // it is one of many, or the server is slow or has ended
			return nil, nil
		case x.Result == nil:
			return nil, errors.New(x.Outcome())
		default:
			return x.Result, nil
		}
	}
	for _, list := range e.Clean.Asked("skills/list") {
		if list.Result == nil {
			found = append(found, check.At(list.Place(e.Clean), "skills/list %s", list.Outcome()+evidence.Waited(list)))
		}
		entries, _ := rawjson.Elements(rawjson.Get(list.Result, "skills"))
		for i, entry := range entries {
			skill, where := extension.ReadSkill(entry), list.Place(e.Clean)
			where.Pointer = fmt.Sprintf("/skills/%d", i)
			for _, problem := range skill.Check(read) {
				found = append(found, check.At(where, "%s: %s", evidence.Label(skill.URI), problem))
			}
		}
	}
	return check.Capped(found)
}
