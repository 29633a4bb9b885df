package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/trust"
	"toolx/pkg/words"
)

// trustOptions say which file is trusted, shown or forgotten.
type trustOptions struct {
	file         string // empty: the nearest one that a folder brought along
	yes          bool
	list, revoke bool
	json         bool
}

func newTrustCommand(app *App, run func(context.Context, *App, trustOptions) error) *cobra.Command {
	var o trustOptions
	cmd := &cobra.Command{
		Use:   "trust [FILE]",
		Short: "Let a folder's config file start its servers",
		Long: `Show what the servers of a config file would do, and record your consent: the
programs that they run, the addresses that they connect to, the variables and files
that they get. FILE is the config file of the working folder or the nearest one
above it, unless another is named. Consent holds for this version of the file and
of its envFiles; a changed file is asked about anew, with the difference.

On a terminal, toolx asks before it records anything; elsewhere it wants --yes.
Files that you name (--config, TOOLX_CONFIG), your own config, commands behind --
and --url need no consent. TOOLX_TRUST=all, or the sha256 of a file, consents for one
run; TOOLX_TRUST=none withdraws every consent.

Exit codes: 0 trusted, listed or revoked; 2 wrong usage, no such file, or no consent.`,
		Example: `  toolx trust
  toolx trust --yes .mcp.json
  toolx trust --list
  toolx trust --revoke .mcp.json`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return fault.Usage("unexpected argument "+quote(args[1]), "toolx trust FILE: one at a time")
			case len(args) == 1 && args[0] == "":
				return fault.Usage("the file's name is empty", "toolx trust FILE")
			case len(args) == 1:
				o.file = args[0]
			}
			return o.check()
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), app, o) },
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "record the consent without a question")
	cmd.Flags().BoolVar(&o.list, "list", false, "list the files that are trusted")
	cmd.Flags().BoolVar(&o.revoke, "revoke", false, "withdraw the consent to FILE")
	cmd.Flags().BoolVar(&o.json, "json", false, "with --list: print JSON")
	return cmd
}

func (o trustOptions) check() error {
	switch {
	case o.list && (o.file != "" || o.revoke || o.yes):
		return fault.Usage("--list stands alone", "toolx trust --list")
	case o.revoke && o.yes:
		return fault.Usage("--yes and --revoke do not go together", "leave out one of them")
	case o.json && !o.list:
		return fault.Usage("--json is for --list", "toolx trust --list --json")
	}
	return nil
}

// trustStore is where consent is kept.
func trustStore() trust.Store { return trust.Store{Path: stateFile("trust.json")} }

func runTrust(ctx context.Context, app *App, o trustOptions) error {
	switch {
	case o.list:
		return app.listTrusted(o.json)
	case o.revoke:
		return app.revokeTrust(ctx, o.file)
	}
	project, err := app.projectAt(o.file)
	if err != nil {
		return err
	}
	if !project.NeedsConsent() {
		app.say("%s starts nothing that needs consent", render.Safe(project.File.Name))
		return nil
	}
	store := trustStore()
	known, err := store.Find(project.File.Path)
	if err != nil {
		return &usageError{err}
	}
	if known != nil && known.SHA256 == project.SHA256 {
		app.say("%s is trusted already", render.Safe(project.File.Name))
		return nil
	}
	app.showEffects(project, known)
	switch {
	case o.yes:
	case !app.asksAtTerminal():
		return fault.Usage("nobody is there to consent to "+project.File.Name,
			"toolx trust --yes "+shellWord(project.File.Name)+", or TOOLX_TRUST="+project.SHA256+" for one run")
	default:
		if err := app.askTrust(ctx, project); err != nil {
			return err
		}
		if !project.Allowed() {
			return fault.Usage(project.File.Name+" is not trusted", "toolx trust asks again")
		}
		return nil
	}
	if err := keepTrust(ctx, project); err != nil {
		return err
	}
	app.say("trusted; toolx trust --revoke %s takes it back", render.Safe(shellWord(project.File.Name)))
	return nil
}

// projectAt reads one file as one that nobody has consented to.
func (a *App) projectAt(file string) (*config.Project, error) {
	options := config.Options{Distrust: true}
	if file != "" {
		if reason := config.Refused(file); reason != "" {
			return nil, fault.Usage(file+" is not read: "+reason,
				"let nobody else write it: chmod go-w "+shellWord(file)+"; or name it with --config")
		}
		options.Files = []string{file}
	} else {
		files, warnings, _ := config.Find(config.Options{})
		for _, warning := range warnings {
			a.log.Warn(warning.String())
		}
		files = slices.DeleteFunc(files, func(f config.File) bool { return !f.Project })
		if len(files) == 0 {
			return nil, fault.Usage("neither this folder nor one above it has a config file",
				"toolx trust FILE; the user's own config and files of --config need no consent")
		}
		options.Files = []string{files[0].Name}
	}
	loaded, err := config.Load(options)
	if err != nil {
		return nil, &usageError{err}
	}
	return loaded.Projects[0], nil
}

func (a *App) listTrusted(asJSON bool) error {
	grants, err := trustStore().List()
	if err != nil {
		return &usageError{err}
	}
	if asJSON {
		if grants == nil {
			grants = []trust.Grant{}
		}
		encoder := json.NewEncoder(a.Console.Out)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(map[string]any{"trusted": grants})
	}
	for _, grant := range grants {
		if _, err := fmt.Fprintf(a.Console.Out, "%s\t%s\t%s\n", a.shown(grant.Path), grant.SHA256, trustState(grant)); err != nil {
			return err
		}
	}
	if len(grants) == 0 {
		a.say("no file is trusted")
	}
	return nil
}

// trustState reports whether a grant is of use still.
func trustState(grant trust.Grant) string {
	loaded, err := config.Load(config.Options{Files: []string{grant.Path}, Distrust: true})
	switch {
	case err != nil:
		return "cannot be read"
	case loaded.Projects[0].SHA256 != grant.SHA256:
		return "changed since"
	}
	return "trusted since " + grant.Time.UTC().Format(time.DateOnly)
}

func (a *App) revokeTrust(ctx context.Context, file string) error {
	if file == "" {
		project, err := a.projectAt("")
		if err != nil {
			return err
		}
		file = project.File.Path
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	found, err := trustStore().Remove(ctx, path)
	if err != nil {
		return &usageError{err}
	}
	if !found {
		return fault.Usage("no consent is recorded for "+path, "toolx trust --list shows what is")
	}
	a.say("%s is not trusted any more", render.Safe(path))
	return nil
}

// say writes a line of toolx's own to stderr.
func (a *App) say(format string, args ...any) { fmt.Fprintf(a.live, format+"\n", args...) }

// loadConfig reads the config. Where a file cannot be parsed, the error is a usage error,
// and the config has what the others say; it is never nil. The servers of files that nobody named resolve only as far
// as the user has consented: earlier, by TOOLX_TRUST, or when consent asks.
func (a *App) loadConfig() (*config.Config, error) {
	policy, err := trustPolicy(os.Getenv(config.EnvTrust))
	if err != nil {
		return &config.Config{}, err
	}
	loaded, err := config.Load(config.Options{Files: a.flags.config, Distrust: policy.none})
	for _, project := range loaded.Projects {
		allowed, unreadable := policy.allows(project)
		if allowed {
			project.Allow()
		}
		if unreadable != nil && project.NeedsConsent() {
			a.warnOnce("no consent can be read: " + unreadable.Error())
		}
	}
	a.tellShadowed(loaded)
	if err != nil {
		return loaded, &usageError{err}
	}
	return loaded, nil
}

// tellShadowed warns where a folder's file takes the place of a server or a tool of the user's own. Without the user's
// consent to the file, --quiet does not silence it: another program than the one that is meant gets the arguments.
func (a *App) tellShadowed(loaded *config.Config) {
	for _, shadowed := range loaded.Shadowed {
		warn, what := a.warnOnce, "server '"+shadowed.Server+"'"
		if !shadowed.Consented() {
			warn = a.warnLoudly
		}
		if shadowed.Tool != "" {
			what = "tool '" + shadowed.Tool + "'"
		}
		warn(fmt.Sprintf("%s is that of %s, not the one of %s", what, shadowed.By, shadowed.Origin))
	}
}

// policy is what TOOLX_TRUST says.
type policy struct {
	all, none bool
	digests   []string
}

// trustPolicy reads TOOLX_TRUST. A word that is neither is a mistake that must not pass for consent, nor for its lack.
func trustPolicy(text string) (policy, error) {
	switch text {
	case "":
		return policy{}, nil
	case config.TrustAll:
		return policy{all: true}, nil
	case config.TrustNone:
		return policy{none: true}, nil
	}
	digests := strings.Split(strings.ToLower(text), ",")
	for _, one := range digests {
		if len(one) != 64 || strings.Trim(one, "0123456789abcdef") != "" {
			return policy{}, fault.Usage(config.EnvTrust+" is "+quote(text),
				config.EnvTrust+"=all, none, or the sha256 of a config file")
		}
	}
	return policy{digests: digests}, nil
}

// allows reports whether the user has consented to a file. The error says that the store cannot
// be read, which has no consent in it then.
func (p policy) allows(project *config.Project) (bool, error) {
	switch {
	case p.none:
		return false, nil
	case p.all, slices.Contains(p.digests, project.SHA256):
		return true, nil
	}
	known, err := trustStore().Find(project.File.Path)
	return err == nil && known != nil && known.SHA256 == project.SHA256, err
}

// consent asks the user, once for each file and where a person is there, whether the
// servers of a folder's file may be used. Without a yes they do not resolve.
func (a *App) consent(ctx context.Context, list ...*config.Server) error {
	for _, server := range list {
		project := server.Project()
		if project == nil || project.Allowed() || !project.NeedsConsent() || !a.asksAtTerminal() {
			continue
		}
		if err := a.consentTo(ctx, project); err != nil {
			return err
		}
	}
	return nil
}

// consentTo asks about one file, unless that has been done.
func (a *App) consentTo(ctx context.Context, project *config.Project) error {
	a.keyboard.mu.Lock()
	defer a.keyboard.mu.Unlock()
	if _, asked := a.asked.LoadOrStore(project.File.Path, true); asked {
		return nil
	}
	defer a.live.Hold()()
	known, err := trustStore().Find(project.File.Path)
	if err != nil {
		a.log.Warn(err.Error())
	}
	a.showEffects(project, known)
	return a.askTrust(ctx, project)
}

// asksAtTerminal reports whether a person can be asked for consent.
func (a *App) asksAtTerminal() bool {
	return a.Console.InTTY && a.Console.ErrTTY && !a.asksNobody && !a.drawn.Load() && os.Getenv(config.EnvTrust) != config.TrustNone
}

// untrustedTogether are the errors of servers, with one for all servers of a file that the user has not consented to.
func untrustedTogether(opened []servers.Opened) []error {
	var errs []error
	together := make(map[string]*config.UntrustedError)
	for _, one := range opened {
		var untrusted *config.UntrustedError
		switch {
		case one.Err == nil:
		case !errors.As(one.Err, &untrusted) || untrusted.Changed != "":
			errs = append(errs, one.Err)
		case together[untrusted.File] != nil:
			of := together[untrusted.File]
			of.Servers = append(of.Servers, untrusted.Servers...)
		default:
			of := *untrusted
			of.Servers = slices.Clone(untrusted.Servers)
			together[of.File] = &of
			errs = append(errs, &of)
		}
	}
	return errs
}

// What is shown of a file is bounded: mostEffects lines, longestEffect bytes of each. More
// would push the rest off the screen, and nobody reads it.
const (
	mostEffects   = 100
	longestEffect = 600
)

// showEffects shows on stderr what the servers of a file would do, and what of that is new.
func (a *App) showEffects(project *config.Project, known *trust.Grant) {
	effects := project.Effects()
	if known == nil {
		a.say("%s came with this folder. Its servers would run with your rights:", render.Safe(project.File.Path))
	} else {
		a.say("%s has changed since you trusted it. Its servers would run with your rights:", render.Safe(project.File.Path))
		if effects = trust.Diff(known.Effects, effects); slices.Equal(known.Effects, project.Effects()) {
			a.say("  (what they run is the same; what has changed is elsewhere in the file)")
		}
		// What is new or gone comes first: it must not stand behind the lines that are left out.
		slices.SortStableFunc(effects, func(x, y string) int {
			return cmp.Compare(strings.Index("+- ", x[:1]), strings.Index("+- ", y[:1]))
		})
	}
	width := 0
	if a.Console.ErrTTY {
		width = a.Console.Width
	}
	for _, effect := range effects[:min(mostEffects, len(effects))] {
		for _, line := range render.Quote(words.Clip(effect, longestEffect), width) {
			a.say("%s", line)
		}
		if more := len(effect) - longestEffect; more > 0 {
			a.say("  … and %s of this line that you do not see here: read the file", exec.Bytes(int64(more)))
		}
	}
	if more := len(effects) - mostEffects; more > 0 {
		a.say("  … and %d more that you do not see here: read the file", more)
	}
	a.say("  %s in all, sha256 %s", plural(len(effects), "line", "lines"), project.SHA256)
}

// askTrust asks for a yes, and keeps it. The error is ctx's.
func (a *App) askTrust(ctx context.Context, project *config.Project) error {
	answer, err := a.choose(ctx, "trust this file? [y]es, [n]o: ", "yes", "no")
	if err != nil {
		fmt.Fprintln(a.live)
		if ctx.Err() == nil {
			return nil // standard input has ended, which is no yes
		}
		return err
	}
	if answer != "yes" {
		return nil
	}
	if err := keepTrust(ctx, project); err != nil {
		a.log.Warn("the consent holds for this run only: " + err.Error())
	}
	project.Allow()
	return nil
}

func keepTrust(ctx context.Context, project *config.Project) error {
	return trustStore().Add(ctx, trust.Grant{
		Path: project.File.Path, SHA256: project.SHA256, Time: time.Now().UTC().Truncate(time.Second), Effects: project.Effects(),
	})
}
