package call

import (
	"encoding/json"
	"testing"

	"toolx/pkg/exec"
)

// A form shows what is right on the command line, and what is wrong as it was typed.
func TestFillKeepsWhatIsWrong(t *testing.T) {
	tool, err := exec.NewTool(json.RawMessage(`{"name":"add","inputSchema":{"type":"object","properties":{
		"a":{"type":"integer"},"b":{"type":"integer"},"list":{"type":"array","items":{"type":"integer"}},
		"o":{"type":"object","properties":{"x":{"type":"boolean"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, object string
		args         []string
		want         string
		wrong        bool
	}{
		{"all is right", "", []string{"a=3", "b=4"}, `{"a":3,"b":4}`, false},
		{"one is wrong", "", []string{"a=3", "b=x"}, `{"a":3,"b":"x"}`, true},
		{"the wrong one comes first", "", []string{"b=x", "a=3"}, `{"b":"x","a":3}`, true},
		{"over an object", `{"a":1,"b":2}`, []string{"a=x"}, `{"a":"x","b":2}`, true},
		{"the object is wrong", `{"a":`, []string{"a=3"}, `{"a":3}`, true},
		{"only the object is wrong", `{"a":`, nil, ``, true},
		{"what is no JSON", "", []string{"a=3", `b:={"x`}, `{"a":3,"b":"{\"x"}`, true},
		{"what is no argument", "", []string{"a=3", "b"}, `{"a":3}`, true},
		{"given twice", "", []string{"a=3", "a=4", "b=5"}, `{"a":3,"b":5}`, true},
		{"inside of an object", "", []string{"o.x=maybe", "a=3"}, `{"o":{"x":"maybe"},"a":3}`, true},
		{"several for a list", "", []string{"list=1", "list=2", "b=x"}, `{"list":[1,2],"b":"x"}`, true},
		{"a file that is not there", "", []string{"a=3", "b=@/nowhere/at/all"}, `{"a":3,"b":"@/nowhere/at/all"}`, true},
	} {
		got, err := Options{Object: test.object, Args: test.args}.Fill(tool)
		if string(got) != test.want || (err != nil) != test.wrong {
			t.Errorf("%s: %s, %v; want %s", test.name, got, err, test.want)
		}
	}
}
