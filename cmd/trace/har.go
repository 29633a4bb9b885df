package trace

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolx/cmd/build"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/recording"
	"toolx/pkg/servers/wire"
)

// archive makes an HTTP archive of requests, http://www.softwareishard.com/blog/har-12-spec/. A server that is a
// process has the address stdio://NAME. It has the heads of the exchanges over HTTP.
type archive map[headKey]wire.HTTPExchange

// headKey identifies the request that an exchange carried.
type headKey struct {
	source wire.Head
	id     string
}

func (a archive) take(event wire.Event) {
	if head, ok := event.(wire.HTTPExchange); ok && head.Request != 0 {
		a[headKey{head.Source(), strconv.FormatInt(head.Request, 10)}] = head
	}
}

type (
	harEntry struct {
		Started  time.Time   `json:"startedDateTime"`
		Time     float64     `json:"time"`
		Request  harRequest  `json:"request"`
		Response harResponse `json:"response"`
		Cache    struct{}    `json:"cache"`
		Timings  harTimings  `json:"timings"`
		Comment  string      `json:"comment"`
	}
	harRequest struct {
		Method string `json:"method"`
		URL    string `json:"url"`
		harMessage
		Query []struct{} `json:"queryString"`
		Post  harText    `json:"postData"`
	}
	harResponse struct {
		Status     int    `json:"status"`
		StatusText string `json:"statusText"`
		harMessage
		Content  harContent `json:"content"`
		Redirect string     `json:"redirectURL"`
	}
	harMessage struct {
		Version     string      `json:"httpVersion"`
		Cookies     []struct{}  `json:"cookies"`
		Headers     []harHeader `json:"headers"`
		HeadersSize int         `json:"headersSize"` // -1: unknown
		BodySize    int         `json:"bodySize"`
	}
	harHeader struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	harText struct {
		Type string `json:"mimeType"`
		Text string `json:"text"`
	}
	harContent struct {
		Size int `json:"size"`
		harText
	}
	harTimings struct {
		Send    float64 `json:"send"`
		Wait    float64 `json:"wait"`
		Receive float64 `json:"receive"`
	}
)

// entry returns a request and its response.
func (a archive) entry(r *recording.Request) harEntry {
	const kind = "application/json"
	head := a[headKey{r.Source(), wire.Message{ID: r.ID}.AnswerID()}]
	url := head.URL
	if url == "" {
		url = "stdio://" + r.Server
	}
	message := func(headers map[string][]string, body []byte) harMessage {
		list := []harHeader{}
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			list = append(list, harHeader{name, strings.Join(headers[name], ", ")})
		}
		return harMessage{head.Proto, []struct{}{}, list, -1, len(body)}
	}
	status := head.Status
	if status == 0 && r.Response != nil {
		status = 200
	}
	took := exec.Milliseconds(r.Took)
	return harEntry{
		Started: r.At, Time: took,
		Request: harRequest{"POST", url, message(head.Sent, r.Message), []struct{}{}, harText{kind, string(r.Message)}},
		Response: harResponse{
			Status: status, harMessage: message(head.Received, r.Response),
			Content: harContent{len(r.Response), harText{kind, string(r.Response)}},
		},
		Timings: harTimings{Wait: took},
		Comment: strings.TrimSpace(r.Method + " " + subject(r)),
	}
}

// print prints the selected requests among rows as an archive.
func (a archive) print(o *Options, rows []*row) error {
	entries := []harEntry{}
	for _, r := range rows {
		if r.Kind == kindRequest && o.wants(r) {
			entries = append(entries, a.entry(r.request))
		}
	}
	list, err := json.Marshal(entries)
	if err != nil {
		return err
	}
	creator := rawjson.Build("name", "toolx", "version", build.Version())
	log := rawjson.Build("version", "1.2", "creator", creator, "entries", json.RawMessage(list))
	return o.Out.PrintJSON(rawjson.Build("log", log))
}
