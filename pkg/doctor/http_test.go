package doctor

import (
	"strings"
	"testing"

	"toolx/pkg/doctor/evidence"
)

// TestEventsOfStreams shows which lines make an event, and where reading ends.
func TestEventsOfStreams(t *testing.T) {
	for stream, want := range map[string]string{
		": hello\n\nevent: endpoint\ndata: /messages\n\ndata: next\n\n": "endpoint /messages",
		"data: a\r\ndata: b\r\n\r\n":                                    " a\nb",
		"event: endpoint\ndata: cut":                                    "endpoint cut, open",
		": nothing\n\n":                                                 "",
	} {
		reply := &evidence.HTTPReply{}
		readEvents(reply, strings.NewReader(stream), func(evidence.HTTPEvent) bool { return true })
		var got []string
		for _, event := range reply.Events {
			text := event.Name + " " + string(event.Text())
			if event.Open {
				text += ", open"
			}
			got = append(got, text)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q gives %q, want %q", stream, got, want)
		}
	}
}
