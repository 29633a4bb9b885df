package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/skills"
)

func newSkillCommand(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skill install|make [SERVER]",
		Short: "Teach agents to use toolx, or the tools of a server",
		Long: `Write skills for agents: files by which they learn to do something when it is needed.
install writes that of toolx where agents look for them, make prints one for a server.

Exit codes: 0 success, 2 wrong usage or a file that cannot be written, 3 authentication,
4 the server was not reached, 130 interrupted.`,
		Example: `  toolx skill install
  toolx skill make zwave > .claude/skills/zwave/SKILL.md`,
		Args: needsSubcommand("there is no skill %q to write", "toolx skill install, or toolx skill make SERVER"),
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(newSkillInstallCommand(app, runSkillInstall), newSkillMakeCommand(app, runSkillMake))
	return cmd
}

// skillInstallOptions say where the skill of toolx is written.
type skillInstallOptions struct {
	user   bool
	folder string
}

func newSkillInstallCommand(app *App, run runFunc[skillInstallOptions]) *cobra.Command {
	var o skillInstallOptions
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Write the skill of toolx where agents look for skills",
		Long: `Write the skill of toolx into .claude/skills and .agents/skills of the working folder,
or with --user of your home. An older one is replaced, a file of another name is not.

Exit codes: 0 written, 2 wrong usage or a file that cannot be written.`,
		Example: "  toolx skill install\n  toolx skill install --user",
		Args:    noArguments,
		RunE: runs(app, &o, run, func() error {
			if o.user && o.folder != "" {
				return fault.Usage("--user and --folder are two places", "leave one of them out")
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&o.user, "user", false, "write it into your home, for all projects")
	cmd.Flags().StringVar(&o.folder, "folder", "", "write it into the folder of skills `DIR` alone")
	return cmd
}

// skillFolders are where agents look for skills, below a project or a home.
var skillFolders = []string{".claude/skills", ".agents/skills"}

func runSkillInstall(_ context.Context, app *App, o skillInstallOptions) error {
	folders := []string{o.folder}
	if o.folder == "" {
		base := "."
		if o.user {
			home, err := os.UserHomeDir()
			if err != nil {
				return usageError(err)
			}
			base = home
		}
		folders = nil
		for _, folder := range skillFolders {
			folders = append(folders, filepath.Join(base, filepath.FromSlash(folder)))
		}
	}
	for _, folder := range folders {
		path := filepath.Join(folder, "toolx", "SKILL.md")
		if err := writeSkill(path); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(app.Console.Out, render.Safe(path)); err != nil {
			return err
		}
	}
	return nil
}

// writeSkill writes the skill of toolx, over an older one but over nothing else.
func writeSkill(path string) error {
	old, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(old), "\nname: toolx\n") {
		return fault.Usage(path+" is another skill", "rename its folder, or name another with --folder DIR")
	}
	if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
		err = os.WriteFile(path, []byte(skills.Toolx), 0o644)
	}
	if err != nil {
		return fault.Usage("cannot write "+path+": "+fault.Reason(err),
			"name a folder that can be written with --folder DIR")
	}
	return nil
}

// skillMakeOptions say which server a skill is made for.
type skillMakeOptions struct {
	server  string
	command []string // a command line after --
}

func newSkillMakeCommand(app *App, run runFunc[skillMakeOptions]) *cobra.Command {
	var o skillMakeOptions
	return &cobra.Command{
		Use:   "make [SERVER] [-- COMMAND…]",
		Short: "Print a skill for the tools of a server",
		Long: `Start a server and print a SKILL.md by which an agent calls its tools through toolx:
a line for each tool, how to call them, what to do when that fails. Read it before an
agent does: names and descriptions are the server's own.

Exit codes: 0 success, 2 wrong usage or unknown server, 3 authentication, 4 the server
was not reached, 130 interrupted.`,
		Example: "  toolx skill make zwave\n  toolx skill make -- npx -y @modelcontextprotocol/server-everything",
		Args: nameOrCommand(&o.command, func(args []string) error {
			return atMostOne(&o.server, "toolx skill make SERVER")(nil, args)
		}),
		RunE:              runs(app, &o, run),
		ValidArgsFunction: completeServers(app, 1),
	}
}

func runSkillMake(ctx context.Context, app *App, o skillMakeOptions) error {
	page, err := app.pageOf(ctx, o.server, o.command, &answerOptions{listing: true})
	if err != nil {
		return err
	}
	return render.Skill(app.Console.Out, page)
}
