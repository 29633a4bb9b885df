//go:build js && wasm

// Command decode explains the error messages of MCP clients in a web page, by the doctor's own table: it sets the
// global function toolxExplain(message), which returns a diagnosis as JSON, or null for an unknown message.
package main

import (
	"encoding/json"
	"syscall/js"

	"toolx/pkg/doctor/decode"
)

func main() {
	js.Global().Set("toolxExplain", js.FuncOf(func(_ js.Value, args []js.Value) any {
		diagnosis, ok := decode.Decode(args[0].String())
		if !ok {
			return js.Null()
		}
		text, err := json.Marshal(diagnosis)
		if err != nil {
			return js.Null()
		}
		return string(text)
	}))
	select {} // the page calls the function for as long as it is open
}
