package cmd

import (
	"cmp"
	"context"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
)

// pageOf opens a server, the one on the command line where name is empty, and returns what a page about it is made of.
func (a *App) pageOf(
	ctx context.Context, name string, command []string, answers *answerOptions,
) (render.Server, error) {
	if name != "" && (len(command) > 0 || a.flags.url != "") {
		return render.Server{}, fault.Usage("name a server, or give a command after --, not both",
			"toolx show --markdown -- COMMAND…")
	}
	box, err := a.toolbox(toolboxOptions{server: command, answers: answers})
	if err != nil {
		return render.Server{}, err
	}
	if name == "" && !box.adHoc {
		return render.Server{}, fault.Usage("name one server", "toolx show --markdown SERVER; toolx servers lists them")
	}
	names, err := box.namedServers(strings.Fields(name))
	if err != nil {
		return render.Server{}, err
	}
	bounded, done := box.bounded(ctx, exec.TimeoutError{Tool: "list", Request: true})
	defer done()
	opened, err := box.openForTools(bounded, "list", toolFilter{servers: names})
	if err != nil {
		return render.Server{}, err
	}
	if failed := firstFailure(opened); failed != nil {
		return render.Server{}, &reportedError{failed}
	}
	page := render.Server{Name: opened[0].Server, Tools: toolsOf(box.registry.All(), opened[0].Server, toolFilter{})}
	for _, tool := range page.Tools {
		page.Examples = append(page.Examples, toolFacts(bounded, tool, 0).Example)
	}
	if session := opened[0].Session; session != nil {
		page.Calls = strings.TrimSpace(session.Info.Name + " " + session.Info.Version)
		page.Instructions = session.Instructions
		if box.adHoc { // "server" says nothing
			page.Name = cmp.Or(session.Info.Name, page.Name)
		}
	}
	return page, gaveUp(bounded, "list", page.Name)
}
