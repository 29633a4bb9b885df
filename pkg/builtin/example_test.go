package builtin_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"toolx/pkg/builtin"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

// loadExample reads a config file of the project, which must be without fault.
func loadExample(t *testing.T, path ...string) *config.Config {
	t.Helper()
	loaded, err := config.Load(config.Options{Files: []string{filepath.Join(append([]string{"..", ".."}, path...)...)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, warning := range loaded.Warnings {
		t.Errorf("%s:%d: %s", warning.Origin.File, warning.Origin.Line, warning.Text)
	}
	return loaded
}

// The Z-Wave server that the example starts: every tool takes camelCase parameters and answers with its response as it
// is (IMPL-1).
func TestZwaveExample(t *testing.T) {
	loaded := loadExample(t, "testdata", "zwave.yaml")
	registry := exec.NewRegistry(nil)
	for _, entry := range loaded.Tools {
		registry.Register(fromConfig(t, entry, builtin.Services{}))
	}
	executor := &exec.Executor{Registry: registry}
	calls := []struct{ tool, arguments, want string }{
		{"control_zwave_device", `{"deviceName":"Switch One","action":"on"}`, `"status":"ok"`},
		{"control_zwave_device", `{"deviceName":"Reading Lamp","action":"dim","level":60}`, `"status":"ok"`},
		{"get_zwave_device", `{"deviceName":"Switch One"}`, `"state":"on"`},
		{"list_zwave_devices", `{}`, `"devices":[`},
		{"set_zwave_thermostat", `{"deviceName":"Hall Thermostat","targetTemperature":21.5}`, `"status":"ok"`},
	}
	for _, c := range calls {
		result := executor.Call(t.Context(), exec.Call{Tool: c.tool, Arguments: json.RawMessage(c.arguments)})
		if got := value(t, result); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s", c.tool, got)
		}
	}
	if len(loaded.Tools) != 4 {
		t.Errorf("%d tools", len(loaded.Tools))
	}
	for _, arguments := range []string{`{}`, `{"deviceName":"Switch One","action":"explode"}`, `{"deviceName":"Switch One","action":"dim","level":100}`} {
		result := executor.Call(t.Context(), exec.Call{
			Tool:      "control_zwave_device",
			Arguments: json.RawMessage(arguments),
		})
		if kind := fault.KindOf(result.Err); result.Success || kind != fault.KindInvalidArguments {
			t.Errorf("%s: got %v", arguments, result.Err)
		}
	}
}

func TestRootExample(t *testing.T) {
	loaded := loadExample(t, "toolx.yaml")
	if len(loaded.Servers) != 1 || len(loaded.Tools) != 1 {
		t.Fatalf("%d servers, %d tools", len(loaded.Servers), len(loaded.Tools))
	}
	mapping := loaded.Servers[0].Normalize["control_zwave_device"]
	if mapping["device_name"] != "deviceName" || mapping["command"] != "action" {
		t.Errorf("got %v", mapping)
	}
	weather := fromConfig(t, loaded.Tools[0], builtin.Services{})
	if got := value(t, call(t, builtin.Services{}, "weather", `{"city":"Oslo"}`, weather)); got != `{"temp":21}` {
		t.Errorf("got %s", got)
	}
}
