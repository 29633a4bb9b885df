package config

import (
	"io/fs"
	"slices"
	"sync"
)

// Input is a value that an entry requests with ${input:ID}: clients ask the user and store the answer.
type Input struct {
	ID          string
	Description string
	Default     string
	Secret      bool
	Options     []string // the possible answers; none means any text
	// File is the config file with the entry. An input with the same ID in another file is different.
	File string
	// Variable is the environment variable that can provide the value.
	Variable string
}

// inputs are the inputs of one file's entries, and the answers.
type inputs struct {
	known []Input

	mu      sync.Mutex
	answers map[string]string
}

// readInputs reads the descriptions of inputs in VS Code's file.
func readInputs(root *node) *inputs {
	read := &inputs{}
	list, _ := root.get("inputs")
	if list.value == nil {
		return read
	}
	for _, item := range list.value.items {
		text := func(key string) string {
			m, found := item.get(key)
			if !found {
				return ""
			}
			return m.value.written
		}
		input := Input{ID: text("id"), Description: text("description"), Default: text("default")}
		input.Secret = text("password") == "true"
		if options, found := item.get("options"); found {
			for _, option := range options.value.items {
				if value, labelled := option.get("value"); labelled {
					option = value.value
				}
				input.Options = append(input.Options, option.written)
			}
		}
		read.known = append(read.known, input)
	}
	return read
}

// describe returns the description of an input; the file may use one without a description.
func (i *inputs) describe(id string) Input {
	input := Input{ID: id, Secret: true}
	if i != nil {
		if at := slices.IndexFunc(i.known, func(known Input) bool { return known.ID == id }); at >= 0 {
			input = i.known[at]
		}
	}
	input.Variable = "TOOLX_INPUT_" + variableFor(id)
	return input
}

func (i *inputs) answer(id string) (string, bool) {
	if i == nil {
		return "", false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	answer, found := i.answers[id]
	return answer, found
}

// Inputs returns the inputs of the entry that have no answer yet, neither from Answer nor in the environment, in the
// order of the entry.
func (s *Server) Inputs(environ []string) []Input {
	lookup := newEnvironment(environ)
	var open []Input
	for _, used := range s.references() {
		if used.form == nil || used.form.name != "input" {
			continue
		}
		input := s.inputs.describe(used.argument)
		input.File = s.Origin.File
		_, set := lookup.get(input.Variable)
		_, answered := s.inputs.answer(input.ID)
		same := func(other Input) bool { return other.ID == input.ID }
		if !set && !answered && !slices.ContainsFunc(open, same) {
			open = append(open, input)
		}
	}
	return open
}

// Answer sets the value of an input for all entries of the file until the process ends.
func (s *Server) Answer(input Input, value string) {
	if s.inputs == nil {
		s.inputs = &inputs{}
	}
	s.inputs.mu.Lock()
	defer s.inputs.mu.Unlock()
	if s.inputs.answers == nil {
		s.inputs.answers = make(map[string]string)
	}
	s.inputs.answers[input.ID] = value
}

// fromInput returns the user's answer, else the variable's value, else the default.
func (e *expander) fromInput(argument, _ string, _ int) (string, error) {
	input := e.server.inputs.describe(argument)
	answer, found := e.server.inputs.answer(input.ID)
	if !found {
		answer, found = e.lookup(input.Variable)
	}
	switch {
	case found:
	case input.Default != "":
		answer = input.Default
	default:
		return "", &referenceError{
			"it has no value", "export " + input.Variable + "=…, or call on a terminal, where toolx asks",
			fs.ErrNotExist,
		}
	}
	return answer, nil
}

// provided returns a reader for values that clients provide. An environment variable with that name takes precedence.
func provided(name string, value func(e *expander) string) func(*expander, string, string, int) (string, error) {
	return func(e *expander, _, _ string, _ int) (string, error) {
		if set, found := e.lookup(name); found {
			return set, nil
		}
		if value := value(e); value != "" {
			return value, nil
		}
		return "", &referenceError{"its value is unknown here", "export " + name + "=…", fs.ErrNotExist}
	}
}
