package model_test

import (
	"strings"
	"testing"
)

// TestAsk asks the model through toolx. What reaches the Z-Wave server is the right
// call, once, with the server's own parameter names, and what the server answers
// reaches the model (AI-1, AI-2, AI-3).
func TestAsk(t *testing.T) {
	model := startModel(t)
	one, all := []string{"--tools", control}, []string{"--server", "zwave"}
	for _, test := range []struct {
		question        string
		tools           []string
		tool, arguments string
		answer          string // part of the tool's
	}{
		{question, one, "control_zwave_device", arguments, "confirmed by the device"},
		{`turn the device "Switch One" on`, one, "control_zwave_device", `{"deviceName":"Switch One","action":"on"}`, "confirmed by the device"},
		{"dim the reading lamp to 30", all, "control_zwave_device", `{"deviceName":"reading lamp","action":"dim","level":30}`, "confirmed by the device"},
		{"list the devices", all, "list_zwave_devices", `{}`, "Hall Thermostat"},
	} {
		t.Run(test.question, func(t *testing.T) {
			zwave := newZWave(t)
			answer, err := zwave.toolx(t, model, "",
				append([]string{"ask", test.question, "--model", "needle"}, test.tools...)...)
			if err != nil {
				t.Fatalf("toolx ask: %v", err)
			}
			zwave.wantCalls(t, call{test.tool, []byte(test.arguments)})
			if !strings.Contains(answer, test.answer) {
				t.Errorf("the model did not get the server's answer; toolx ask printed: %s", answer)
			}
		})
	}
}

// TestFollow asks one question after the other. A call that the model gets wrong, as
// it does when asked what it does not understand, is told to it and ends nothing
// (AI-1, AI-4).
func TestFollow(t *testing.T) {
	model, zwave := startModel(t), newZWave(t)
	lines := question + "\nhello there\nturn off switch one\n"
	answers, err := zwave.toolx(t, model, lines, "ask", "--follow", "--provider", "ollama", "--model", "needle",
		"--tools", control)
	if err != nil {
		t.Fatalf("toolx ask --follow: %v", err)
	}
	if got := strings.Count(answers, "\n\n"); got != 3 {
		t.Errorf("%d answers to 3 questions: %s", got, answers)
	}
	zwave.wantCalls(t,
		call{"control_zwave_device", []byte(arguments)},
		call{"control_zwave_device", []byte(`{"deviceName":"switch one","action":"off"}`)},
	)
}
