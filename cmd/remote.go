package cmd

import (
	"context"
	"errors"
	"log/slog"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/fault"
	"toolx/pkg/mask"
	"toolx/pkg/servers"
)

// checkRemote refuses an address and headers that cannot be meant.
func (f *globalFlags) checkRemote() error {
	if len(f.headers) > 0 && f.url == "" {
		return fault.Usage("-H is for the server of --url, and there is none",
			"headers: in a server's entry are for that server")
	}
	if f.url != "" {
		address, err := url.Parse(f.url)
		if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
			fix := "--url https://host/mcp"
			if bare, err := url.Parse("http://" + f.url); err == nil && bare.Host != "" && !strings.Contains(f.url, "://") {
				fix = "http:// or https:// is missing: --url http://" + f.url
			}
			return fault.Usage("--url is no address of a server: "+quote(f.url), fix)
		}
	}
	_, err := parseHeaders(f.headers)
	return err
}

// parseHeaders reads headers as they are given with -H. Errors do not quote them: they are mostly secret.
func parseHeaders(given []string) (map[string]string, error) {
	headers := make(map[string]string, len(given))
	for _, header := range given {
		name, content, ok := strings.Cut(header, ":")
		name = textproto.TrimString(name)
		if !ok || name == "" || strings.ContainsAny(name, " \t\r\n") || strings.ContainsAny(content, "\r\n") {
			return nil, fault.Usage("a header of -H is none",
				"-H 'NAME: CONTENT', such as -H 'Authorization: Bearer …'")
		}
		headers[textproto.CanonicalMIMEHeaderKey(name)] = textproto.TrimString(content)
	}
	return headers, nil
}

// adHoc is the server that the command line gives, by a command behind -- or by --url; nil where it gives none.
func (a *App) adHoc(command []string) (*config.Server, error) {
	switch {
	case len(command) > 0 && a.flags.url != "":
		return nil, fault.Usage("there is a --url and a command behind --",
			"keep the one that is meant: a verb works with one server of the command line")
	case len(command) > 0:
		return a.flags.program(command)
	case a.flags.url == "":
		return nil, nil
	}
	headers, err := parseHeaders(a.flags.headers)
	if err != nil {
		return nil, err
	}
	return config.AdHoc(nil, a.flags.url, headers), nil
}

// checkNoCommand refuses what only a command behind -- can have, where there is none.
func (f *globalFlags) checkNoCommand() error {
	flag, fix := "--env", "env: in a server's entry is for that server"
	switch {
	case f.cwd != "":
		flag, fix = "--cwd", "cwd: in a server's entry is for that server"
	case len(f.env) == 0:
		return nil
	}
	return fault.Usage(flag+" is for a server whose command stands behind --, and there is none", fix)
}

// program is the server that a command starts, with its --env and --cwd.
func (f *globalFlags) program(command []string) (*config.Server, error) {
	server := config.AdHoc(command, "", nil)
	for _, variable := range f.env {
		name, value, ok := strings.Cut(variable, "=")
		if !ok || name == "" || strings.ContainsRune(variable, 0) {
			return nil, fault.Usage("--env "+quote(name)+" is no variable with a value",
				"--env NAME=VALUE; what toolx has in its own environment is passed on as it is")
		}
		if server.Env == nil {
			server.Env = make(map[string]string)
		}
		server.Env[name] = value
	}
	if f.cwd == "" {
		return server, nil
	}
	folder, err := filepath.Abs(f.cwd)
	if err == nil {
		err = isFolder(folder)
	}
	if err != nil {
		return nil, fault.Usage("--cwd "+f.cwd+": "+fault.Reason(err), "name a folder that is there")
	}
	server.Cwd = folder
	return server, nil
}

func isFolder(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &os.PathError{Op: "open", Path: path, Err: errors.New("not a folder")}
	}
	return err
}

// reaching are the flags that say how servers are reached, as they were given, for a
// command to paste: without secrets, for which the mask stands that is to be replaced.
func (f *globalFlags) reaching() []string {
	var flags []string
	add := func(flag string, values ...string) {
		for _, value := range values {
			if value != "" {
				flags = append(flags, flag, value)
			}
		}
	}
	add("--config", f.config...)
	add("--protocol", f.protocol)
	for _, variable := range f.env {
		if name, value, _ := strings.Cut(variable, "="); mask.Name(name) || mask.Value(value) {
			variable = name + "=" + mask.Mask
		}
		add("--env", variable)
	}
	add("--cwd", f.cwd)
	add("--cacert", f.caCert)
	if f.insecure {
		flags = append(flags, "--insecure")
	}
	for _, header := range f.headers {
		name, _, _ := strings.Cut(header, ":")
		add("-H", name+": "+mask.Mask)
	}
	return flags
}

// overHTTP says how servers are reached that are no programs.
func (a *App) overHTTP() servers.HTTPOptions {
	if a.flags.insecure {
		a.warnLoudly("--insecure: certificates are not checked, so anyone on the way can read and change what is sent")
	}
	return servers.HTTPOptions{CACert: a.flags.caCert, Insecure: a.flags.insecure, Authorize: a.authorize, Warn: a.warnOnce}
}

// warnOnce warns of what every server meets anew, as what is wrong with the environment.
func (a *App) warnOnce(text string) {
	if _, told := a.warned.LoadOrStore(text, true); !told {
		a.log.Warn(text)
	}
}

// warnLoudly is warnOnce for what nobody should have missed: --quiet does not silence it.
func (a *App) warnLoudly(text string) {
	if _, told := a.warned.LoadOrStore(text, true); !told {
		// stderr that is gone tells nobody anything.
		_ = a.log.Handler().Handle(context.Background(), slog.NewRecord(time.Now(), slog.LevelWarn, text, 0))
	}
}
