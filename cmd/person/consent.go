package person

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolx/cmd/cli"
	"toolx/cmd/exit"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/trust"
	"toolx/pkg/words"
)

// Consent reads the config, and decides which files that came with a folder may start their servers: those to which the
// user has consented, earlier, with TOOLX_TRUST, or when asked.
type Consent struct {
	Out      *streams.Streams
	Flags    *cli.Flags
	Keyboard *Keyboard
	// asked has the files about which the user was asked.
	asked sync.Map
	// NoQuestions reports whether standard input is not for answers, even if it is a terminal.
	NoQuestions bool
	// Named are the clients whose servers the command line names.
	Named []string
	// Sources are the sources of references in the config.
	Sources *config.Sources
}

// LoadConfig reads the config. If a file cannot be parsed, it returns a usage error, and a config with the content of
// the other files. The config is never nil.
func (c *Consent) LoadConfig() (*config.Config, error) {
	policy, err := TrustPolicy(os.Getenv(config.EnvTrust))
	if err != nil {
		return &config.Config{}, err
	}
	options := config.Options{Files: c.Flags.Config, Distrust: policy.None, Sources: c.Sources}
	loaded, err := config.Load(options)
	c.ApplyPolicy(policy, loaded.Projects)
	if unread := c.addClients(loaded, policy, options); unread != nil {
		return loaded, unread
	}
	c.warnShadowed(loaded)
	c.addSessions(loaded)
	if err != nil {
		return loaded, exit.Usage(err)
	}
	return loaded, nil
}

// ApplyPolicy allows the files to which the user has consented.
func (c *Consent) ApplyPolicy(policy Policy, projects []*config.Project) {
	for _, project := range projects {
		allowed, unreadable := policy.allows(project)
		if allowed {
			project.Allow()
		}
		if unreadable != nil && project.NeedsConsent() {
			c.Out.WarnOnce("cannot read consent: " + unreadable.Error())
		}
	}
}

// warnShadowed warns if a folder's file replaces one of the user's own servers or tools. Without the user's consent to
// the file, --quiet does not silence the warning, because the arguments go to a program that the user does not expect.
func (c *Consent) warnShadowed(loaded *config.Config) {
	for _, shadowed := range loaded.Shadowed {
		warn, what := c.Out.WarnOnce, "server '"+shadowed.Server+"'"
		if !shadowed.Consented() {
			warn = c.Out.WarnLoudly
		}
		if shadowed.Tool != "" {
			what = "tool '" + shadowed.Tool + "'"
		}
		warn(fmt.Sprintf("%s comes from %s, not from %s", what, shadowed.By, shadowed.Origin))
	}
}

// Policy is the value of TOOLX_TRUST.
type Policy struct {
	all, None bool
	digests   []string
}

// TrustPolicy reads TOOLX_TRUST. An unknown word is an error, because it must not count as consent or as refusal.
func TrustPolicy(text string) (Policy, error) {
	switch text {
	case "":
		return Policy{}, nil
	case config.TrustAll:
		return Policy{all: true}, nil
	case config.TrustNone:
		return Policy{None: true}, nil
	}
	digests := strings.Split(strings.ToLower(text), ",")
	for _, one := range digests {
		if len(one) != 64 || strings.Trim(one, "0123456789abcdef") != "" {
			return Policy{}, fault.Usage(config.EnvTrust+" is "+strconv.Quote(text),
				config.EnvTrust+"=all, none, or the sha256 of a config file")
		}
	}
	return Policy{digests: digests}, nil
}

// allows reports whether the user has consented to a file. If the store cannot be read, it returns an error and false.
func (p Policy) allows(project *config.Project) (bool, error) {
	switch {
	case p.None:
		return false, nil
	case p.all, slices.Contains(p.digests, project.SHA256):
		return true, nil
	}
	known, err := stores.Trust().Find(project.File.Path)
	return err == nil && known != nil && known.SHA256 == project.SHA256, err
}

// CanAsk reports whether the user can be asked for consent.
func (c *Consent) CanAsk() bool {
	return c.Out.Person() && !c.NoQuestions && !c.Out.Drawn.Load() && os.Getenv(config.EnvTrust) != config.TrustNone
}

// Ask asks the user, once for each file, whether its servers may be used. Without a yes, they do not resolve.
func (c *Consent) Ask(ctx context.Context, list ...*config.Server) error {
	for _, server := range list {
		project := server.Project()
		if project == nil || project.Allowed() || !project.NeedsConsent() || !c.CanAsk() {
			continue
		}
		if err := c.askOnce(ctx, project); err != nil {
			return err
		}
	}
	return c.askInputs(ctx, list)
}

func (c *Consent) askOnce(ctx context.Context, project *config.Project) error {
	release, err := c.Keyboard.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if _, asked := c.asked.LoadOrStore(project.File.Path, true); asked {
		return nil
	}
	known, err := stores.Trust().Find(project.File.Path)
	if err != nil {
		c.Out.Log.Warn(err.Error())
	}
	ShowEffects(c.Out, project, known)
	return c.AskFor(ctx, project)
}

// AskFor asks for consent, and records it. The error is ctx's. The caller holds the keyboard.
func (c *Consent) AskFor(ctx context.Context, project *config.Project) error {
	answer, err := c.Keyboard.choose(ctx, "trust this file? [y]es, [n]o: ", "yes", "no")
	if err != nil {
		fmt.Fprintln(c.Out.Live)
		return ctx.Err() // nil if standard input has ended, which is not consent
	}
	if answer != "yes" {
		return nil
	}
	if err := KeepTrust(ctx, project); err != nil {
		c.Out.Log.Warn("the consent is valid only for this run: " + err.Error())
	}
	project.Allow()
	return nil
}

// KeepTrust records that the user trusts the current version of a project's config.
func KeepTrust(ctx context.Context, project *config.Project) error {
	return stores.Trust().Add(ctx, trust.Grant{
		Path: project.File.Path, SHA256: project.SHA256,
		Time: time.Now().UTC().Truncate(time.Second), Effects: project.Effects(),
	})
}

// UntrustedTogether returns the errors of servers, with a single error for all servers of a file without the user's
// consent.
func UntrustedTogether(opened []servers.Opened) []error {
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

// toolx shows at most mostEffects lines of longestEffect bytes each for a file. More would scroll off the screen.
const (
	mostEffects   = 100
	longestEffect = 600
)

// ShowEffects shows on stderr what the servers of a file would do. known is the consent to an earlier version of the
// file, or nil; with it, ShowEffects shows only what is new or gone.
func ShowEffects(o *streams.Streams, project *config.Project, known *trust.Grant) {
	effects, said := project.Effects(), "came with this folder"
	if known != nil {
		effects, said = words.DiffLines(known.Effects, effects), "has changed since you trusted it"
		slices.SortStableFunc(effects, func(x, y string) int {
			return cmp.Compare(strings.Index("+- ", x[:1]), strings.Index("+- ", y[:1]))
		})
	}
	o.Say("%s %s. Its servers would run with your rights:", render.Safe(project.File.Path), said)
	if known != nil && slices.Equal(known.Effects, project.Effects()) {
		o.Say("  (they run the same programs; another part of the file has changed)")
	}
	for _, effect := range effects[:min(mostEffects, len(effects))] {
		QuoteEffect(o, effect)
	}
	if more := len(effects) - mostEffects; more > 0 {
		o.Say("  … and %d more that are not shown: read the file", more)
	}
	o.Say("  %s in all, sha256 %s", words.Count(len(effects), "line"), project.SHA256)
}

// QuoteEffect shows one effect of a file, and how much of a long one is missing.
func QuoteEffect(o *streams.Streams, effect string) {
	o.Quote(words.Clip(effect, longestEffect))
	if more := len(effect) - longestEffect; more > 0 {
		o.Say("  … and %s of this line that are not shown: read the file", exec.Bytes(int64(more)))
	}
}
