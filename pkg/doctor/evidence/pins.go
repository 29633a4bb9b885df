package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"

	"toolx/pkg/contract"
)

// Pins are reviewed tool definitions, by server and plain name.
type Pins map[string]contract.Definitions

// MarshalYAML writes each definition as indented JSON text, which keeps all digits and gives readable diffs.
func (p Pins) MarshalYAML() (any, error) {
	text := make(map[string]map[string]string, len(p))
	for server, tools := range p {
		text[server] = make(map[string]string, len(tools))
		for name, definition := range tools {
			var indented bytes.Buffer
			if err := json.Indent(&indented, definition, "", "  "); err != nil {
				return nil, err
			}
			text[server][name] = indented.String()
		}
	}
	return text, nil
}

// UnmarshalYAML reads what MarshalYAML writes.
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
