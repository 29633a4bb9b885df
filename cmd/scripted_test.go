package cmd_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// scripted is a server that answers from a JSON file: a member is a method, or a method and the name or URI in its
// params, and its value the result. Other requests get an error.
func scripted(args []string) int {
	text, err := os.ReadFile(args[0])
	results := map[string]json.RawMessage{}
	if err == nil {
		err = json.Unmarshal(text, &results)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var request struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name, URI string }
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil || request.ID == nil {
			continue
		}
		result, known := results[request.Method+" "+request.Params.Name+request.Params.URI]
		if !known {
			result, known = results[request.Method]
		}
		code := -32601
		if request.Method == "resources/read" || request.Method == "tools/call" {
			code = -32602
		}
		member := `"result":` + string(result)
		if !known {
			member = fmt.Sprintf(`"error":{"code":%d,"message":"there is none"}`, code)
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", request.ID, member)
	}
	return 0
}
