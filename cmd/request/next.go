package request

import (
	"errors"
	"slices"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers"
	"toolx/pkg/servers/protocol"
)

// AddNext sets the next command after a failed call or request, for programs that read the envelope: the error's own,
// or else one that explains failures of its kind. path is the verb's, such as "toolx call". It sets nothing if the user
// interrupted or toolx itself failed.
func (r *Printer) AddNext(result *exec.Result, path string) {
	if result.Err == nil {
		return
	}
	if next := fault.NextOf(result.Err); next != "" {
		result.Next = r.Out.Mask.Text(next)
		return
	}
	server := result.Server
	var connect *servers.ConnectError
	if errors.As(result.Err, &connect) {
		server = connect.Server
	}
	var visit *protocol.VisitError
	var words []string
	switch kind := fault.KindOf(result.Err); {
	case errors.As(result.Err, &visit): // the same command, after visiting the page
		result.Next = r.Out.Mask.Text(exec.PasteLine(append([]string{"toolx"}, r.Line.Args...)...))
		return
	case kind == fault.KindAuth && r.Line.URL != "":
		result.Next = exec.PasteLine("toolx", "auth", "login", r.Line.URL)
		return
	case kind == fault.KindAuth && server != "" && !r.Line.AdHoc:
		words = []string{"auth", "login", server}
	case kind == fault.KindTool && result.ToolName != "" && path == "toolx call":
		words = []string{"show", result.ToolName}
	case kind == fault.KindConnect, kind == fault.KindProtocol, kind == fault.KindTimeout, connect != nil:
		words = []string{"doctor"}
		if server != "" && !r.Line.AdHoc {
			words = append(words, server)
		}
	case kind == fault.KindUsage, kind == fault.KindNotFound:
		words := append([]string{"toolx", "help"}, strings.Fields(path)[1:]...)
		result.Next = exec.PasteLine(append(words, "--json")...)
		return
	default:
		return
	}
	result.Next = r.Out.Mask.Text(exec.PasteLine(slices.Concat([]string{"toolx"}, words, r.Line.Launch)...))
}
