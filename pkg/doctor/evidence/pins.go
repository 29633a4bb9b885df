package evidence

import (
	"encoding/json"
	"fmt"

	"toolx/pkg/contract"
)

// Pins are reviewed tool definitions, by server and plain name.
type Pins map[string]contract.Definitions

// UnmarshalYAML reads the pins of a baseline of schema 2, where each definition is text with JSON.
func (p *Pins) UnmarshalYAML(decode func(any) error) error {
	var text map[string]map[string]string
	if err := decode(&text); err != nil {
		return err
	}
	*p = make(Pins, len(text))
	for server, tools := range text {
		(*p)[server] = make(contract.Definitions, len(tools))
		for name, definition := range tools {
			(*p)[server][name] = json.RawMessage(definition)
		}
	}
	return nil
}

// Check requires each pin to be a JSON object.
func (p Pins) Check() error {
	for server, tools := range p {
		for name, definition := range tools {
			if !IsObject(definition) || !json.Valid(definition) {
				return fmt.Errorf("tools.%s.%s is not the JSON of a tool definition", server, name)
			}
		}
	}
	return nil
}
