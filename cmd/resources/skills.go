package resources

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"toolx/cmd/list"
	"toolx/pkg/catalog"
	"toolx/pkg/exec"
	"toolx/pkg/extension"
	"toolx/pkg/render"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/words"
)

func skillCatalog() list.Listing {
	return list.Listing{
		Noun: "skill", Verb: []string{"resources", "skills"}, Kind: catalog.Skills,
		Member: "skills", Method: "skills/list", List: (*protocol.Session).Skills, Check: CheckSkill,
		Exits: ", 6 a skill\nis invalid",
		Entry: func(definition json.RawMessage) render.Entry {
			skill := extension.ReadSkill(definition)
			files := words.Count(len(skill.Files), "file") + ", " + exec.Bytes(skill.Size)
			if skill.Dynamic {
				files = "dynamic"
			}
			return render.Entry{
				Plain: skill.URI, Remark: files, Title: skill.Name, Description: skill.Description,
			}
		},
	}
}

// CheckSkill checks an entry of skills/list and, with verify, reads its files up to the first that differs from it.
func CheckSkill(ctx context.Context, session *protocol.Session, entry json.RawMessage, verify bool) error {
	skill := extension.ReadSkill(entry)
	problems := skill.Check(func(uri string) (json.RawMessage, error) {
		if !verify {
			return nil, nil
		}
		return session.ReadResource(ctx, uri, nil)
	})
	if len(problems) == 0 {
		return nil
	}
	return &exec.MalformedError{What: skill.URI, Reason: errors.New(strings.Join(problems, "; "))}
}
