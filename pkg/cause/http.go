package cause

import "strings"

// listensForHTTP returns the cause of a server that reports an HTTP address; nil if there is none. A line with a whole
// URL is preferred.
func listensForHTTP(o *output) *Cause {
	if !o.Alive && o.lines[o.head].weight >= hints {
		return nil
	}
	var best *Cause
	for i := range o.lines {
		text := o.sentence(i)
		address := ListenURL(text)
		worse := besideServer().MatchString(text)
		if address == "" || best != nil && (worse || !strings.Contains(text, address)) {
			continue
		}
		best = &Cause{
			Kind: HTTP, Line: text,
			What: "it listens for HTTP instead of stdin: " + address,
			Fixes: []string{
				"add --stdio, or --transport stdio, to args of this server",
				"or connect over HTTP: replace command with url: " + address,
			},
		}
		if strings.Contains(text, address) && !worse {
			break
		}
	}
	return best
}

// ListenURL returns the URL at which a server listens for HTTP according to a line; empty if there is none. A port
// without a scheme counts only if the line mentions HTTP and no database. The URL is safe to print.
func ListenURL(text string) string {
	// A quick test: a flood may have millions of lines, and most contain neither an address nor a port.
	if !strings.Contains(text, ":") && !strings.Contains(text, "ort") && !strings.Contains(text, "ORT") {
		return ""
	}
	found := listening().FindStringSubmatch(text)
	switch {
	case notListening().MatchString(text):
		return ""
	case found == nil && !connects().MatchString(text):
		return endpoint().FindString(text)
	case found == nil:
		return ""
	case found[1] != "":
		return found[1]
	case !speaksHTTP().MatchString(text), speaksOther().MatchString(text),
		otherProgram().MatchString(text) && !mcpServer().MatchString(text):
		return ""
	case found[2] != "":
		return "http://localhost:" + found[2]
	}
	return "http://" + found[3]
}
