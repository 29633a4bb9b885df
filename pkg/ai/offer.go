package ai

import (
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/convert"
	"toolx/pkg/exec"
)

// offer is what a model is given to call: tools in its provider's form, and the way
// back from the names in it. It is made for one request and then forgotten: tools
// are kept in their own form alone (CONV-5).
type offer struct {
	document json.RawMessage // nil where there is no tool
	names    []string
	byName   map[string]*exec.Tool // by the name in the document
	tools    map[convert.ModelTool]*exec.Tool
}

// offer converts the tools, and says so when they are others than before.
func (c *Conversation) offer() *offer {
	made := &offer{byName: map[string]*exec.Tool{}, tools: map[convert.ModelTool]*exec.Tool{}}
	if c.Tools == nil {
		return made
	}
	var sources []convert.Tool
	for _, tool := range c.Tools() {
		sources = append(sources, convert.Tool{Server: tool.Server, Definition: tool.Definition})
		made.tools[convert.ModelTool{Server: tool.Server, Plain: tool.Plain}] = tool
	}
	conversion := convert.ConvertAll(sources, c.Provider.Format())
	for _, converted := range conversion.Tools {
		tool := made.tools[convert.ModelTool{Server: converted.Server, Plain: converted.Plain}]
		if tool == nil {
			continue
		}
		made.byName[converted.Name] = tool
		made.names = append(made.names, converted.Name)
	}
	if len(conversion.Tools) > 0 { // an empty list is refused by some
		made.document = conversion.Document()
	}
	if !slices.Equal(made.names, c.offered) {
		c.offered = made.names
		c.emit(Offered{
			Format: c.Provider.Format(), Names: made.names, Losses: conversion.Losses(), Limits: conversion.Limits,
		})
	}
	return made
}

// find gives the tool that a model means. Models drop prefixes and write names as
// another format would have them; that is understood where only one tool can be
// meant. What was not offered is not found, even where toolx has it.
func (o *offer) find(name string) (*exec.Tool, error) {
	if tool := o.byName[name]; tool != nil {
		return tool, nil
	}
	known := make([]convert.ModelTool, 0, len(o.names))
	for _, offered := range o.names {
		tool := o.byName[offered]
		known = append(known, convert.ModelTool{Server: tool.Server, Plain: tool.Plain})
	}
	meant := convert.FindName(name, known)
	if len(meant) == 1 {
		return o.tools[meant[0]], nil
	}
	missing := &notOfferedError{NotFoundError: exec.NotFoundError{Name: name}, offered: o.names}
	for _, one := range meant {
		missing.Candidates = append(missing.Candidates, o.tools[one].Name)
	}
	return nil, missing
}

// notOfferedError tells a model which tools it has, so that it can do better.
type notOfferedError struct {
	exec.NotFoundError
	offered []string
}

func (e *notOfferedError) Error() string {
	const most = 20
	text := e.NotFoundError.Error()
	if len(e.Candidates) > 0 || len(e.offered) == 0 || len(e.offered) > most {
		return text
	}
	return text + "; the tools are: " + strings.Join(e.offered, ", ")
}
