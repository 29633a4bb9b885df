package extension

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"toolx/pkg/config"
	"toolx/pkg/rawjson"
)

// Skill is an entry of skills/list.
type Skill struct {
	URI               string // of the file with its instructions
	Name, Description string
	// Files are those that may be read, with the instructions first. Of a dynamic skill no others are known.
	Files    []File
	Dynamic  bool
	Size     int64 // of all files
	Problems []string

	frontmatter json.RawMessage
}

// File is a file of a skill; it has neither digest nor size in a dynamic skill.
type File struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

// ReadSkill reads an entry of skills/list. Files outside the skill's folder are left out, so that they are never read.
func ReadSkill(entry json.RawMessage) *Skill {
	s := &Skill{
		URI: rawjson.GetText(entry, "uri"), frontmatter: rawjson.Get(entry, "frontmatter"),
		Dynamic: string(rawjson.Get(entry, "resources")) == `"dynamic"`, Problems: check("skill", entry),
	}
	s.Name, s.Description = rawjson.GetText(s.frontmatter, "name"), rawjson.GetText(s.frontmatter, "description")
	if len(s.Problems) > 0 {
		return s
	}
	problem := func(format string, args ...any) { s.Problems = append(s.Problems, fmt.Sprintf(format, args...)) }
	folder := strings.TrimSuffix(s.URI, "/SKILL.md")
	if !strings.HasSuffix(folder, "/"+s.Name) {
		problem("the name %q differs from the folder of %s", s.Name, s.URI)
	}
	if s.Dynamic {
		s.Files = []File{{URI: s.URI}}
		return s
	}
	var list []File
	_ = json.Unmarshal(rawjson.Get(entry, "resources"), &list) // as the schema requires
	for _, file := range list {
		known := slices.ContainsFunc(s.Files, func(f File) bool { return f.URI == file.URI })
		if !inFolder(file.URI, folder) || known {
			problem("%q is outside %s, or is listed twice", file.URI, folder)
			continue
		}
		s.Files, s.Size = append(s.Files, file), s.Size+file.Size
	}
	const most = 16 << 20 // that every host supports
	own := slices.IndexFunc(s.Files, func(f File) bool { return f.URI == s.URI })
	switch {
	case own < 0:
		problem("SKILL.md is not among the files")
	case s.Size > most:
		problem("the files have %d bytes; hosts support %d", s.Size, most)
	default:
		s.Files[0], s.Files[own] = s.Files[own], s.Files[0]
	}
	return s
}

// inFolder reports whether the path of a URI stays in a folder, also once it is unescaped.
func inFolder(uri, folder string) bool {
	rest, below := strings.CutPrefix(uri, folder+"/")
	path, err := url.PathUnescape(rest)
	return below && err == nil && path != "." && fs.ValidPath(path) && !strings.ContainsAny(path, "\\?#\x00")
}

// Check returns what is wrong with the entry and with its files, up to the first wrong one. read returns the result of
// resources/read, or nil for a file that is not to be checked.
func (s *Skill) Check(read func(uri string) (json.RawMessage, error)) []string {
	if len(s.Problems) > 0 {
		return s.Problems
	}
	for _, file := range s.Files {
		result, err := read(file.URI)
		if err == nil && result != nil {
			err = s.verify(file, result)
		}
		if err != nil {
			return []string{strings.TrimPrefix(file.URI, strings.TrimSuffix(s.URI, "SKILL.md")) + ": " + err.Error()}
		}
	}
	return nil
}

// verify compares the result of reading a file with the entry.
func (s *Skill) verify(file File, result json.RawMessage) error {
	_, text, err := contentOf(result)
	switch sum := fmt.Sprintf("sha256:%x", sha256.Sum256(text)); {
	case err != nil:
		return err
	case file.Digest != "" && int64(len(text)) != file.Size:
		return fmt.Errorf("it has %d bytes, but skills/list says %d", len(text), file.Size)
	case file.Digest != "" && file.Digest != sum:
		return errors.New("its digest differs from skills/list")
	case file.URI == s.URI:
		return s.compareFrontmatter(string(text))
	}
	return nil
}

// compareFrontmatter compares the frontmatter of the instructions with that in the entry.
func (s *Skill) compareFrontmatter(text string) error {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	opened, isOpen := strings.CutPrefix(text, "---\n")
	block, _, isClosed := strings.Cut("\n"+opened, "\n---\n")
	if !isOpen || !isClosed {
		return errors.New("it does not begin with YAML frontmatter between lines of ---")
	}
	converted, err := config.YAMLToJSON([]byte(block))
	if err != nil {
		return fmt.Errorf("its frontmatter is %w", err)
	}
	var file, entry map[string]any
	if json.Unmarshal(converted, &file) != nil || file == nil || json.Unmarshal(s.frontmatter, &entry) != nil {
		return errors.New("its frontmatter is not an object")
	}
	all := maps.Clone(file)
	maps.Copy(all, entry)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !reflect.DeepEqual(file[key], entry[key]) {
			return fmt.Errorf("%q in its frontmatter differs from skills/list", key)
		}
	}
	return nil
}
