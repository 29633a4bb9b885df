package tool

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/jsonschema"
	"toolx/pkg/words"
)

func askInputSchemaMissing(d *listing.Definition) []check.Finding {
	if d.Input != nil {
		return nil
	}
	value, there := d.Members["inputSchema"]
	if !there {
		return []check.Finding{d.Finding("/inputSchema", "inputSchema is missing")}
	}
	return []check.Finding{d.Finding("/inputSchema", "inputSchema is "+evidence.KindOfJSON(value)+": "+evidence.ExcerptJSON(value))}
}

// askRootType wants a schema's root to be of type object.
func askRootType(d *listing.Definition, tree *listing.SchemaTree) []check.Finding {
	if tree == nil || tree.Cut && len(tree.Nodes) == 1 || tree.Root.Object["type"] == "object" {
		return nil
	}
	kind, there := tree.Root.Object["type"]
	if !there {
		return []check.Finding{d.Finding(tree.Root.Pointer(), "type is missing")}
	}
	value, _ := json.Marshal(kind)
	return []check.Finding{d.Finding(tree.Root.Pointer()+"/type", "type is "+evidence.ExcerptJSON(value))}
}

func askRootCombinator(d *listing.Definition) []check.Finding {
	if d.Input == nil {
		return nil
	}
	var found []string
	for _, keyword := range []string{"oneOf", "anyOf", "allOf", "not"} {
		if d.Input.Root.Has(keyword) {
			found = append(found, keyword)
		}
	}
	if found == nil {
		return nil
	}
	return []check.Finding{d.Finding("/inputSchema/"+found[0], strings.Join(found, ", ")+" at the root")}
}

// lastLegacy is the last revision in which structuredContent had to be an object.
const lastLegacy = "2025-11-25"

func askOutputSchemaType(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, d := range listing.Read(e).Tools {
		value, there := d.Members["outputSchema"]
		switch {
		case there && d.Output == nil:
			found = append(found, d.Finding("/outputSchema", "outputSchema is "+evidence.KindOfJSON(value)+": "+evidence.ExcerptJSON(value)))
		case e.Clean.Protocol <= lastLegacy: // revisions are dates
			found = append(found, askRootType(d, d.Output)...)
		}
	}
	return check.Capped(found)
}

func askSchemaDialect(e *evidence.Evidence) []check.Finding {
	var unknown []check.Finding
	count := make(map[string]int)
	older := []spot{}
	for _, d := range listing.Read(e).Tools {
		for _, tree := range d.Schemas() {
			found, uri := tree.Dialect()
			name := string(found)
			switch {
			case found == listing.DialectUnknown:
				unknown = append(unknown, d.Finding(tree.Root.Pointer()+"/$schema", evidence.Excerpt(uri, evidence.MaxExcerpt)))
				continue
			case uri == "":
				name = "no $schema, so " + name
			case found != listing.Dialect2020:
				older = append(older, spotAt(d, tree.Root.Pointer()+"/$schema", d.Label()))
			}
			count[name]++
		}
	}
	return append(check.Capped(unknown), olderDialects(count, older)...)
}

// olderDialects is what is worth knowing of dialects: older ones, and a mixture.
func olderDialects(count map[string]int, older []spot) []check.Finding {
	if len(older) == 0 {
		return nil
	}
	var parts []string
	for name, n := range count {
		parts = append(parts, fmt.Sprintf("%s: %s", name, words.Count(n, "schema")))
	}
	slices.Sort(parts)
	title := "schemas are of an older dialect"
	if len(count) > 1 {
		title = "schemas are of several dialects"
	}
	return []check.Finding{{
		Severity: check.Info, Title: title,
		Where: older[0].d.Where(older[0].pointer), Evidence: strings.Join(parts, "; "),
	}}
}

// compileLimit bounds the time of compiling all schemas of one server.
const compileLimit = 5 * time.Second

func askSchemaInvalid(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	deadline := time.Now().Add(compileLimit)
	known := make(map[[sha256.Size]byte]error) // many tools have the same schema
	left := 0
	for _, d := range listing.Read(e).Tools {
		for _, tree := range d.Schemas() {
			sum := sha256.Sum256(tree.Raw)
			err, seen := known[sum]
			if !seen {
				if time.Now().After(deadline) {
					left++
					continue
				}
				err = invalid(tree)
				known[sum] = err
			}
			if err != nil {
				found = append(found, invalidFinding(d, tree, err))
			}
		}
	}
	found = check.Capped(found)
	if left > 0 {
		found = append(found, check.Finding{
			Severity: check.Info, Title: "not all schemas were judged",
			Evidence: fmt.Sprintf("%s took longer than %s to compile; %d more were left out", words.Count(len(known), "schema"), compileLimit, left),
		})
	}
	return found
}

func invalidFinding(d *listing.Definition, tree *listing.SchemaTree, err error) check.Finding {
	pointer := tree.Root.Pointer()
	var broken *jsonschema.SchemaError
	if errors.As(err, &broken) {
		pointer += broken.Pointer
	}
	return d.Finding(pointer, evidence.Excerpt(err.Error(), 2*evidence.MaxExcerpt))
}

// invalid says what is wrong with a schema by its dialect. References that lead
// nowhere or out of the document, unknown dialects, and size are other checks'
// findings and are left out of it.
func invalid(t *listing.SchemaTree) error {
	if found, _ := t.Dialect(); found == listing.DialectUnknown || t.Cut {
		return nil
	}
	raw := t.Raw
	bad := make(map[uintptr]bool)
	for _, node := range t.Nodes {
		if node.RefKind == listing.RefDangling || node.RefKind == listing.RefExternal {
			bad[listing.IdentityOf(node.Object)] = true
		}
	}
	if len(bad) > 0 {
		stripped, err := json.Marshal(withoutRefs(t.Root.Object, bad))
		if err != nil {
			return nil // it came from JSON
		}
		raw = stripped
	}
	_, err := jsonschema.Parse(raw).Compile(context.Background())
	if errors.Is(err, jsonschema.ErrTooLarge) || depthLimit(t) {
		return nil
	}
	return err
}

// depthLimit says that a schema is deeper than toolx compiles: schema-deep says so.
func depthLimit(t *listing.SchemaTree) bool {
	const compiled = 200 // subschemas, each of which is two brackets or more
	deepest, _ := t.Levels()
	return deepest > compiled
}

// withoutRefs copies a value and leaves the references of the bad objects out.
func withoutRefs(value any, bad map[uintptr]bool) any {
	switch value := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(value))
		for name, member := range value {
			if name != "$ref" || !bad[listing.IdentityOf(value)] {
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
