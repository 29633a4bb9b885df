package tool

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
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
	value, ok := d.Members["inputSchema"]
	switch {
	case d.Input != nil:
		return nil
	case !ok:
		return d.One("/inputSchema", "inputSchema is missing")
	}
	return d.One("/inputSchema", "inputSchema is %s: %s", evidence.KindOfJSON(value), evidence.CutJSON(value))
}

func askInputSchemaType(d *listing.Definition) []check.Finding { return askRootType(d, d.Input) }

// askRootType requires the root of a schema to be of type object.
func askRootType(d *listing.Definition, tree *jsonschema.Tree) []check.Finding {
	if tree == nil || tree.Cut && len(tree.All) == 1 {
		return nil
	}
	kind := tree.Root.Get("type")
	switch {
	case kind == nil:
		return d.One(tree.Root.Pointer(), "type is missing")
	case kind.Text() != "object":
		return d.One(tree.Root.Pointer()+"/type", "type is %s", evidence.CutJSON(kind.Raw()))
	}
	return nil
}

func askRootCombinator(d *listing.Definition) []check.Finding {
	if d.Input == nil {
		return nil
	}
	found := slices.DeleteFunc([]string{"oneOf", "anyOf", "allOf", "not"}, func(keyword string) bool {
		return !d.Input.Root.Has(keyword)
	})
	if len(found) == 0 {
		return nil
	}
	return d.One("/inputSchema/"+found[0], "%s at the root", strings.Join(found, ", "))
}

// lastLegacy is the last revision in which structuredContent had to be an object.
const lastLegacy = "2025-11-25"

func askOutputSchemaType(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, d := range listing.Read(e).Tools {
		value, there := d.Members["outputSchema"]
		switch {
		case there && d.Output == nil:
			found = append(found,
				d.Finding("/outputSchema", "outputSchema is %s: %s", evidence.KindOfJSON(value),
					evidence.CutJSON(value)))
		case e.Clean.Protocol <= lastLegacy: // revisions are dates
			found = append(found, askRootType(d, d.Output)...)
		}
	}
	return check.Capped(found)
}

func askSchemaDialect(e *evidence.Evidence) []check.Finding {
	var unknown, older []check.Finding
	count := make(map[string]int)
	for _, d := range listing.Read(e).Tools {
		for _, tree := range d.Schemas() {
			found, uri := tree.Dialect()
			name, pointer := string(found), tree.Root.Pointer()+"/$schema"
			switch {
			case found == jsonschema.DialectUnknown:
				unknown = append(unknown, d.Finding(pointer, "%s", evidence.Cut(uri)))
				continue
			case uri == "":
				name = "no $schema, so " + name
			case found != jsonschema.Dialect2020:
				older = append(older, d.Finding(pointer, ""))
			}
			count[name]++
		}
	}
	if len(older) == 0 {
		return check.Capped(unknown)
	}
	// All dialects are one finding.
	f := older[0]
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%s: %s", name, words.Count(count[name], "schema")))
	}
	f.Severity, f.Title, f.Evidence = check.Info, "schemas use an older dialect", strings.Join(parts, "; ")
	if len(count) > 1 {
		f.Title = "schemas use several dialects"
	}
	return append(check.Capped(unknown), f)
}

// compileLimit is the time limit for compiling all schemas of one server.
const compileLimit = 5 * time.Second

func askSchemaInvalid(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	deadline := time.Now().Add(compileLimit)
	known := make(map[[sha256.Size]byte]error) // many tools have the same schema
	left := 0
	for _, d := range listing.Read(e).Tools {
		for _, tree := range d.Schemas() {
			sum := sha256.Sum256(tree.Document.Raw())
			err, seen := known[sum]
			if !seen {
				if time.Now().After(deadline) {
					left++
					continue
				}
				err = invalid(tree)
				known[sum] = err
			}
			if err == nil {
				continue
			}
			pointer := tree.Root.Pointer()
			var broken *jsonschema.SchemaError
			if errors.As(err, &broken) {
				pointer += broken.Pointer
			}
			found = append(found, d.Finding(pointer, "%s", evidence.OneLine(err.Error())))
		}
	}
	found = check.Capped(found)
	if left > 0 {
		f := check.At(nil, "%s took longer than %s to compile; %d more were skipped",
			words.Count(len(known), "schema"), compileLimit, left)
		f.Severity, f.Title = check.Info, "some schemas were not checked"
		found = append(found, f)
	}
	return found
}

// invalid returns why a schema is invalid in its dialect. It ignores dangling and external references, unknown dialects
// and size, which have other checks.
func invalid(t *jsonschema.Tree) error {
	const compiled = 200 // nested subschemas; schema-deep reports more
	deepest, cut := t.Levels()
	if found, _ := t.Dialect(); found == jsonschema.DialectUnknown || cut {
		return nil
	}
	var bad []*jsonschema.Subschema
	for _, node := range t.All {
		if node.RefKind == jsonschema.RefDangling || node.RefKind == jsonschema.RefExternal {
			bad = append(bad, node)
		}
	}
	_, err := t.WithoutReferences(bad).Compile(context.Background())
	if errors.Is(err, jsonschema.ErrTooLarge) || deepest > compiled {
		return nil
	}
	return err
}
