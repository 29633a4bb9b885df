package doctor

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
)

func askInputSchemaMissing(d *definition) []Finding {
	if d.input != nil {
		return nil
	}
	value, there := d.members["inputSchema"]
	if !there {
		return []Finding{d.finding("/inputSchema", "inputSchema is missing")}
	}
	return []Finding{d.finding("/inputSchema", "inputSchema is "+kindOfJSON(value)+": "+excerptJSON(value))}
}

// askRootType wants a schema's root to be of type object.
func askRootType(d *definition, tree *schemaTree) []Finding {
	if tree == nil || tree.cut && len(tree.nodes) == 1 || tree.root.object["type"] == "object" {
		return nil
	}
	kind, there := tree.root.object["type"]
	if !there {
		return []Finding{d.finding(tree.root.pointer(), "type is missing")}
	}
	value, _ := json.Marshal(kind)
	return []Finding{d.finding(tree.root.pointer()+"/type", "type is "+excerptJSON(value))}
}

func askRootCombinator(d *definition) []Finding {
	if d.input == nil {
		return nil
	}
	var found []string
	for _, keyword := range []string{"oneOf", "anyOf", "allOf", "not"} {
		if d.input.root.has(keyword) {
			found = append(found, keyword)
		}
	}
	if found == nil {
		return nil
	}
	return []Finding{d.finding("/inputSchema/"+found[0], strings.Join(found, ", ")+" at the root")}
}

// lastLegacy is the last revision in which structuredContent had to be an object.
const lastLegacy = "2025-11-25"

func askOutputSchemaType(e *Evidence) []Finding {
	var found []Finding
	for _, d := range e.survey().tools {
		value, there := d.members["outputSchema"]
		switch {
		case there && d.output == nil:
			found = append(found, d.finding("/outputSchema", "outputSchema is "+kindOfJSON(value)+": "+excerptJSON(value)))
		case e.Clean.Protocol <= lastLegacy: // revisions are dates
			found = append(found, askRootType(d, d.output)...)
		}
	}
	return capped(found)
}

func askSchemaDialect(e *Evidence) []Finding {
	var unknown []Finding
	count := make(map[string]int)
	older := []spot{}
	for _, d := range e.survey().tools {
		for _, tree := range d.schemas() {
			found, uri := tree.dialect()
			name := string(found)
			switch {
			case found == dialectUnknown:
				unknown = append(unknown, d.finding(tree.root.pointer()+"/$schema", excerpt(uri, maxExcerpt)))
				continue
			case uri == "":
				name = "no $schema, so " + name
			case found != dialect2020:
				older = append(older, d.spot(tree.root.pointer()+"/$schema", d.label()))
			}
			count[name]++
		}
	}
	return append(capped(unknown), olderDialects(count, older)...)
}

// olderDialects is what is worth knowing of dialects: older ones, and a mixture.
func olderDialects(count map[string]int, older []spot) []Finding {
	if len(older) == 0 {
		return nil
	}
	var parts []string
	for name, n := range count {
		parts = append(parts, fmt.Sprintf("%s: %s", name, exec.Count(n, "schema")))
	}
	slices.Sort(parts)
	title := "schemas are of an older dialect"
	if len(count) > 1 {
		title = "schemas are of several dialects"
	}
	return []Finding{{
		Severity: Info, Title: title,
		Where: older[0].d.where(older[0].pointer), Evidence: strings.Join(parts, "; "),
	}}
}

// compileLimit bounds the time of compiling all schemas of one server.
const compileLimit = 5 * time.Second

func askSchemaInvalid(e *Evidence) []Finding {
	var found []Finding
	deadline := time.Now().Add(compileLimit)
	known := make(map[[sha256.Size]byte]error) // many tools have the same schema
	left := 0
	for _, d := range e.survey().tools {
		for _, tree := range d.schemas() {
			sum := sha256.Sum256(tree.raw)
			err, seen := known[sum]
			if !seen {
				if time.Now().After(deadline) {
					left++
					continue
				}
				err = tree.invalid()
				known[sum] = err
			}
			if err != nil {
				found = append(found, invalidFinding(d, tree, err))
			}
		}
	}
	found = capped(found)
	if left > 0 {
		found = append(found, Finding{
			Severity: Info, Title: "not all schemas were judged",
			Evidence: fmt.Sprintf("%s took longer than %s to compile; %d more were left out", exec.Count(len(known), "schema"), compileLimit, left),
		})
	}
	return found
}

func invalidFinding(d *definition, tree *schemaTree, err error) Finding {
	pointer := tree.root.pointer()
	var broken *jsonschema.SchemaError
	if errors.As(err, &broken) {
		pointer += broken.Pointer
	}
	return d.finding(pointer, excerpt(err.Error(), 2*maxExcerpt))
}

// invalid says what is wrong with a schema by its dialect. References that lead
// nowhere or out of the document, unknown dialects, and size are other checks'
// findings and are left out of it.
func (t *schemaTree) invalid() error {
	if found, _ := t.dialect(); found == dialectUnknown || t.cut {
		return nil
	}
	raw := t.raw
	bad := make(map[uintptr]bool)
	for _, node := range t.nodes {
		if node.refKind == refDangling || node.refKind == refExternal {
			bad[identityOf(node.object)] = true
		}
	}
	if len(bad) > 0 {
		stripped, err := json.Marshal(withoutRefs(t.root.object, bad))
		if err != nil {
			return nil // it came from JSON
		}
		raw = stripped
	}
	_, err := jsonschema.Parse(raw).Compile()
	if errors.Is(err, jsonschema.ErrTooLarge) || depthLimit(t) {
		return nil
	}
	return err
}

// depthLimit says that a schema is deeper than toolx compiles: schema-deep says so.
func depthLimit(t *schemaTree) bool {
	const compiled = 200 // subschemas, each of which is two brackets or more
	deepest, _ := t.levels()
	return deepest > compiled
}

// withoutRefs copies a value and leaves the references of the bad objects out.
func withoutRefs(value any, bad map[uintptr]bool) any {
	switch value := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(value))
		for name, member := range value {
			if name != "$ref" || !bad[identityOf(value)] {
				copied[name] = withoutRefs(member, bad)
			}
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, element := range value {
			copied[i] = withoutRefs(element, bad)
		}
		return copied
	}
	return value
}
