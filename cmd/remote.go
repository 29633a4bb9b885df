package cmd

import (
	"errors"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"toolx/pkg/config"
	"toolx/pkg/fault"
	"toolx/pkg/mask"
)

// checkRemote refuses an address and headers that cannot be meant.
func (f *globalFlags) checkRemote() error {
	if len(f.headers) > 0 && f.url == "" {
		return fault.Usage("-H needs --url", "headers: in a server's entry are for that server")
	}
	if f.url != "" {
		address, err := url.Parse(f.url)
		if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
			fix := "--url https://host/mcp"
			bare, err := url.Parse("http://" + f.url)
			if err == nil && bare.Host != "" && !strings.Contains(f.url, "://") {
				fix = "http:// or https:// is missing: --url http://" + f.url
			}
			return fault.Usage("--url "+quote(f.url)+" is not the address of a server", fix)
		}
	}
	_, err := parseHeaders(f.headers)
	return err
}

// parseHeaders reads the headers of -H. Errors do not quote them, since most are secret.
func parseHeaders(given []string) (map[string]string, error) {
	headers := make(map[string]string, len(given))
	for _, header := range given {
		name, content, ok := strings.Cut(header, ":")
		name = textproto.TrimString(name)
		if !ok || name == "" || strings.ContainsAny(name, " \t\r\n") || strings.ContainsAny(content, "\r\n") {
			return nil, fault.Usage("-H needs NAME: VALUE", "-H 'Authorization: Bearer …'")
		}
		headers[textproto.CanonicalMIMEHeaderKey(name)] = textproto.TrimString(content)
	}
	return headers, nil
}

// adHoc returns the server that the command line gives, by a command behind -- or by --url; nil where it gives none.
func (f *globalFlags) adHoc(command []string) (*config.Server, error) {
	switch {
	case len(command) > 0 && f.url != "":
		return nil, fault.Usage("--url and a command behind -- do not go together",
			"keep one of them: a verb works with one server of the command line")
	case len(command) > 0:
		return f.program(command)
	case f.url == "":
		return nil, nil
	}
	headers, err := parseHeaders(f.headers)
	if err != nil {
		return nil, err
	}
	return config.AdHoc(nil, f.url, headers), nil
}

// checkNoCommand refuses flags that need a command behind --, where there is none.
func (f *globalFlags) checkNoCommand() error {
	switch {
	case f.cwd != "":
		return fault.Usage("--cwd needs a server's command behind --", "cwd: in a server's entry is for that server")
	case len(f.env) > 0:
		return fault.Usage("--env needs a server's command behind --", "env: in a server's entry is for that server")
	}
	return nil
}

// program returns the server that a command starts, with its --env and --cwd.
func (f *globalFlags) program(command []string) (*config.Server, error) {
	server := config.AdHoc(command, "", nil)
	for _, variable := range f.env {
		name, value, ok := strings.Cut(variable, "=")
		if !ok || name == "" || strings.ContainsRune(variable, 0) {
			return nil, fault.Usage("--env "+quote(name)+" is not NAME=VALUE",
				"--env NAME=VALUE; the server gets toolx's own environment besides")
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
		return nil, fault.Usage("--cwd "+f.cwd+": "+fault.Reason(err), "name a folder that exists")
	}
	server.Cwd = folder
	return server, nil
}

func isFolder(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = errors.New("not a folder")
	}
	return err
}

// reaching returns the flags that say how servers are reached, for a command to paste. A mask stands for each secret,
// for the user to replace.
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
