package culprit

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// sample is one text that a real server wrote to stdout, and what is known of it.
type sample struct {
	number  int // of the collection; the texts of one number are one report
	text    string
	command string
	nearby  []string
	rule    string
	grade   string
	// in and out must stand in the fixes; empty means that there is nothing to say.
	in, out string
}

// samples are texts of the 60 reports of polluted stdout that toolx is built on.
func samples() []sample {
	const (
		node   = "node server.js"
		python = "uv run server.py"
	)
	fastMCPBanner := []string{"│   FastMCP 2.12.4   │", "│   🚀 Deploy free: https://fastmcp.cloud   │"}
	return []sample{
		{number: 1, text: "[dotenv@17.2.3] injecting env (0) from .env -- tip: ⚙️  specify custom .env file path with { path: '/custom/path/.env' }", command: node, rule: "dotenv17", grade: Certain, in: "quiet: true", out: "DOTENV_CONFIG_QUIET=true"},
		{number: 2, text: "[dotenv@17.2.1] injecting env (0) from .env -- tip: 🔐 prevent building .env in docker: https://dotenvx.com/prebuild", rule: "dotenv17", grade: Certain, in: "quiet: true", out: "DOTENV_CONFIG_QUIET=true"},
		{number: 3, text: "[dotenv@17.2.2] injecting env (0) from .env", rule: "dotenv17", grade: Certain, in: "quiet: true", out: "DOTENV_CONFIG_QUIET=true"},
		{number: 4, text: "◇ injected env (0) from .env // tip: ◈ encrypted .env [www.dotenvx.com]", rule: "dotenv17-new", grade: Certain, in: "quiet: true", out: "DOTENV_CONFIG_QUIET=true"},
		{number: 5, text: "◇ injected env (0) from .env // tip: ◈ secrets for agents [www.dotenvx.com]", rule: "dotenv17-new", grade: Certain, in: "quiet: true", out: "DOTENV_CONFIG_QUIET=true"},
		{number: 6, text: "STDIO MCP Server started", command: node, rule: "startup", grade: Likely, in: "console.error"},
		{number: 7, text: "Shadcn UI v4 MCP Server started successfully", command: node, rule: "startup", grade: Likely, in: "console.error"},
		{number: 7, text: "GitHub API key configured successfully", command: node, rule: "runtime", grade: Generic, in: "console.error"},
		{number: 8, text: "[db] Connected to /var/lib/o8.db", command: node, rule: "runtime", grade: Generic, in: "first import"},
		{number: 9, text: "MCP server running with stdio transport", command: node, rule: "startup", grade: Likely, in: "console.error"},
		{number: 10, text: "Azure DevOps MCP Server version : 0.1.0", command: "npx -y azure-devops-mcp", rule: "startup", grade: Likely, in: "console.error"},
		{number: 11, text: "Starting CircleCI MCP server in stdio mode...", command: node, rule: "startup", grade: Likely, in: "console.error"},
		{number: 12, text: "Salesforce MCP Server running on stdio", command: node, rule: "startup", grade: Likely, in: "console.error"},
		{number: 13, text: "TailwindCSS MCP server running on stdio", command: node, rule: "startup", grade: Likely, in: "console.error"},
		{number: 13, text: "DocumentationScraperService initialized", command: node, rule: "runtime", grade: Generic, in: "console.error"},
		{number: 14, text: "🖥️ Server mode: STDIO", command: node, rule: "startup", grade: Likely, in: "console.error"},
		{number: 15, text: "Ubuntu website management tools loaded", command: node, rule: "runtime", grade: Generic, in: "console.error"},
		{number: 16, text: "Shops response: [", command: node, rule: "util-inspect", grade: Likely, in: "console.error"},
		{number: 16, text: "Found 2 shops: [", command: node, rule: "util-inspect", grade: Likely, in: "console.error"},
		{number: 17, text: "Response headers: {", command: node, rule: "util-inspect", grade: Likely, in: "console.error"},
		{number: 17, text: "Response status: 200", command: node, rule: "runtime", grade: Generic, in: "console.error"},
		{number: 18, text: "directories: [ '.' ]", command: "npx repomix --mcp --verbose", rule: "util-inspect", grade: Likely, out: "remove --verbose"},
		{number: 18, text: "  enableFileProcessors: true,", command: "npx repomix --mcp --verbose", rule: "runtime", grade: Generic, out: "remove --verbose"},
		{number: 19, text: "Loading npm package docs", command: node, rule: "runtime", grade: Generic, in: "console.error"},
		{number: 20, text: "\x1b[32m[Nest] 4242  - \x1b[39m05/19/2026, 5:11:00 PM", command: node, rule: "nestjs", grade: Certain, in: "logger: false"},
		{number: 21, text: "2026-05-18 17:11:00 [info]: server is up", command: node, rule: "timestamp", grade: Generic, in: "stderrLevels"},
		{number: 22, text: "[2025-09-15 10:00:00] connected", command: node, rule: "timestamp", grade: Generic, in: "else console.error"},
		{number: 23, text: `{"level":"info","msg":"Jenkins client initialized","url":"x"}`, command: node, rule: "json-logger", grade: Likely, in: "pino.destination(2)"},
		{number: 24, text: `{"timestamp":"2026","level":"info","message":"up","context":{}}`, command: node, rule: "json-logger", grade: Likely, in: "console.error"},
		{number: 25, text: "{\n  \"status\": 200,\n  \"message\": \"Success\",\n  \"results\": [],\n  \"duration\": 1189\n}", command: "dotnet azmcp.dll", rule: "json-result", grade: Generic, in: "Console.Error"},
		{number: 26, text: "packages/mcp-server start:stdio$ node dist/index.js", command: "pnpm start", rule: "pnpm-recursive", grade: Likely, in: "built file", out: "pnpm --silent"},
		{number: 27, text: "npm error code ENOENT", command: "npx nope", rule: "npm", grade: Likely, out: "package's name or path"},
		{number: 27, text: "npm error syscall open", rule: "npm", grade: Likely, out: "package's name or path"},
		{number: 28, text: "npm warn exec The following package was not found and will be installed: x@1.0.0", command: "npx x", rule: "npm", grade: Likely, out: "node <path>/dist/index.js"},
		{number: 29, text: "> react-native-macos@0.78.4 prepack", command: "npm run x", rule: "npm-banner", grade: Certain, out: "npm run --silent"},
		{number: 29, text: "> node ./scripts/prepack.js", command: "npm run x", nearby: []string{"> react-native-macos@0.78.4 prepack"}, rule: "npm-banner", grade: Certain, out: "npm_config_loglevel=silent"},
		{number: 30, text: "USAGE", command: "npx launchdarkly-mcp", rule: "usage", grade: Likely, in: "stderr", out: "start"},
		{number: 31, text: "╭─────────────────────────────────────╮", nearby: fastMCPBanner, command: python, rule: "fastmcp-banner", grade: Certain, in: "show_banner=False", out: "FASTMCP_SHOW_SERVER_BANNER=false"},
		{number: 31, text: "+--------------------------------------+", nearby: fastMCPBanner, command: python, rule: "fastmcp-banner", grade: Certain, in: "show_banner=False", out: "FASTMCP_SHOW_SERVER_BANNER=false"},
		{number: 31, text: "│                                     │", nearby: fastMCPBanner, command: python, rule: "fastmcp-banner", grade: Certain, in: "show_banner=False"},
		{number: 32, text: "============================================================", nearby: []string{"  TrendRadar MCP Server - FastMCP 2.0"}, command: python, rule: "banner", grade: Generic, in: "file=sys.stderr"},
		{number: 32, text: "  TrendRadar MCP Server - FastMCP 2.0", nearby: []string{"============================================================"}, command: python, rule: "banner", grade: Generic, in: "file=sys.stderr"},
		{number: 33, text: "2026-06-04 15:31:01,716 - mineru - INFO - 日志级别设置为: INFO", command: python, rule: "python-logging", grade: Certain, in: "sys.stderr"},
		{number: 34, text: "[09/15/25 00:30:17] INFO     mcpm.commands.run: Starting server 'time' over stdio", command: "mcpm run time", rule: "python-rich", grade: Likely, in: "Console(stderr=True)"},
		{number: 35, text: "Processing request of type ListToolsRequest", command: python, rule: "python-sdk", grade: Certain, in: "sys.stderr", out: "FASTMCP_LOG_LEVEL=ERROR"},
		{number: 36, text: `[50] Add mon5_log_handler to original_logger fsspec.mapping{"jsonrpc":"2.0","id":1,"result":{}}`, command: python, rule: "glued", grade: Generic, in: "sys.stderr"},
		{number: 37, text: "Error: typer is required. Install with 'pip install mcp[cli]'", command: "mcp run x.py", rule: "python-mcp-cli", grade: Certain, in: "mcp[cli]", out: `--with "mcp[cli]"`},
		{number: 38, text: "UnicodeEncodeError: 'charmap' codec can't encode character '\\u2713' in position 0", command: python, rule: "python-charmap", grade: Certain, in: "stderr", out: "PYTHONUTF8=1"},
		{number: 38, text: "✓ loaded .env", command: python, rule: "emoji", grade: Generic, in: "sys.stderr", out: "PYTHONIOENCODING=utf-8"},
		{number: 39, text: "info: Microsoft.Hosting.Lifetime[14]", command: "dotnet run", rule: "dotnet-console", grade: Certain, in: "LogToStandardErrorThreshold", out: "Logging__LogLevel__Default=None"},
		{number: 39, text: "      Now listening on: http://localhost:5000", nearby: []string{"info: Microsoft.Hosting.Lifetime[14]"}, command: "dotnet run", rule: "dotnet-console", grade: Certain, in: "LogToStandardErrorThreshold"},
		{number: 40, text: `Using launch settings from C:\src\Properties\launchSettings.json...`, command: "dotnet run", rule: "dotnet-run", grade: Certain, out: "--no-launch-profile"},
		{number: 41, text: "[INFO] Scanning for projects...", command: "./mvnw spring-boot:run", rule: "maven", grade: Likely, out: "java -jar"},
		{number: 42, text: "  .   ____          _            __ _ _", command: "java -jar app.jar", rule: "spring-boot", grade: Certain, in: "banner-mode=off", out: "SPRING_MAIN_BANNER_MODE=off"},
		{number: 42, text: ` /\\ / ___'_ __ _ _(_)_ __  __ _ \ \ \ \`, nearby: []string{"  .   ____          _            __ _ _"}, command: "java -jar app.jar", rule: "spring-boot", grade: Certain, in: "banner-mode=off"},
		{number: 42, text: " :: Spring Boot ::        (v1.3.0.RELEASE)", command: "java -jar app.jar", rule: "spring-boot", grade: Certain, in: "System.err"},
		{number: 43, text: "\x1b[2m2026-05-19T17:11:00.377319Z\x1b[0m \x1b[32m INFO\x1b[0m database opened", rule: "rust-tracing", grade: Certain, in: "with_writer(std::io::stderr)", out: "NO_COLOR=1"},
		{number: 44, text: "2026-05-18T08:00:00.000000Z  INFO ruvector_mcp: Starting MCP server with STDIO transport", rule: "rust-tracing", grade: Likely, in: "with_writer(std::io::stderr)", out: "RUST_LOG=off"},
		{number: 45, text: "RAM GUARDIAN: memory at 42% (threshold: 15%) — consider cleanup", command: "cargo run --release", rule: "runtime", grade: Generic, in: "with_writer(std::io::stderr)"},
		{number: 46, text: "ERROR response failed", rule: "tower-http", grade: Likely, in: "with_writer(std::io::stderr)", out: "RUST_LOG=off"},
		{number: 47, text: "Starting MCP server", nearby: []string{"  - Transport: STDIO"}, command: "php artisan mcp:serve", rule: "laravel", grade: Likely, in: "error stream", out: "3.1.0"},
		{number: 47, text: "  - Communication: STDIN/STDOUT", command: "php artisan mcp:serve", rule: "laravel", grade: Likely, in: "error stream", out: "3.1.0"},
		{number: 47, text: "  - Mode: JSON-RPC over Standard I/O", command: "php artisan mcp:serve", rule: "laravel", grade: Likely, in: "error stream"},
		{number: 48, text: `Deprecated: Spatie\Comments\X::subscribers(): Implicitly marking parameter $type as nullable is deprecated`, command: "php artisan boost:mcp", rule: "php-errors", grade: Certain, in: "display_errors", out: "php -d display_errors=stderr"},
		{number: 49, text: "  <warning> USER DEPRECATED </warning> demo deprecation.", command: "php artisan tinker", rule: "php-psysh", grade: Likely, out: "php -d display_errors=stderr"},
		{number: 50, text: "Using server: shim-mcp-server", command: "wp mcp-adapter serve", rule: "wp-cli", grade: Likely, in: "WP_CLI::debug()", out: "--server"},
		{number: 51, text: "[2026-04-24T10:00:00Z] EWS-MCP v3.4 starting", command: "docker run -i --rm ews-mcp", rule: "timestamp", grade: Generic, in: ">&2"},
		{number: 52, text: "⏳ Waiting...", command: "docker run -i --rm mimir", rule: "runtime", grade: Generic, in: ">&2"},
		{number: 52, text: "✅ Web server ready", command: "docker run -i --rm mimir", rule: "runtime", grade: Generic, in: ">&2"},
		{number: 53, text: "Now using Node v20.20.2", command: "bash -lc 'npx x'", rule: "nvm", grade: Likely, in: "nvm use --silent", out: "no login shell"},
		{number: 54, text: "pygame 2.0.2 (SDL 2.0.16, Python 3.10.0)", rule: "pygame", grade: Certain, out: "PYGAME_HIDE_SUPPORT_PROMPT=hide"},
		{number: 54, text: "Hello from the pygame community. https://www.pygame.org/contribute.html", rule: "pygame", grade: Certain, out: "PYGAME_HIDE_SUPPORT_PROMPT=hide"},
		{number: 55, text: "Executing (default): INSERT INTO users", command: node, rule: "sequelize", grade: Certain, in: "logging: false"},
		{number: 56, text: "Better speed can be achieved with apex installed from https://www.github.com/nvidia/apex.", command: python, rule: "transformers-apex", grade: Certain, out: "update"},
		{number: 57, text: "Content-Length: 123", rule: "content-length", grade: Certain, in: "newline"},
		{number: 58, text: "<!DOCTYPE html>", command: node, rule: "html", grade: Generic},
		{number: 58, text: "<div class=x>", command: node, rule: "html", grade: Generic},
		{number: 59, text: "\r", command: python, rule: "crlf", grade: Likely, in: `newline=""`},
		{number: 60, text: "Usage:  /bin/bash [GNU long option] [option] ...", command: "docker run -i --rm pwno", rule: "bash-usage", grade: Certain, out: "image's right arguments"},
	}
}

// TestSamples recognises every one of the 60 reports, with what mends it.
func TestSamples(t *testing.T) {
	numbers := make(map[int]bool)
	for _, s := range samples() {
		numbers[s.number] = true
		got := Recognise([]byte(s.text), Context{Nearby: s.nearby, Command: strings.Fields(s.command)})
		if got.Rule != s.rule || got.Culprit.Confidence != s.grade {
			t.Errorf("%d %q: rule %s (%s), want %s (%s)", s.number, s.text, got.Rule, got.Culprit.Confidence, s.rule,
				s.grade)
		}
		if !strings.Contains(got.InServer, s.in) {
			t.Errorf("%d %q: in the server: %q, want %q", s.number, s.text, got.InServer, s.in)
		}
		if !strings.Contains(got.Outside, s.out) {
			t.Errorf("%d %q: outside: %q, want %q", s.number, s.text, got.Outside, s.out)
		}
	}
	for number := 1; number <= 60; number++ {
		if !numbers[number] {
			t.Errorf("sample %d is missing", number)
		}
	}
}

// TestRecogniseShapes holds what no report has: other shapes, and the decorations
// that must not hide one.
func TestRecogniseShapes(t *testing.T) {
	for _, test := range []struct {
		text, rule, grade string
	}{
		{"\ufeff[dotenv@17.2.3] injecting env (0) from .env", "dotenv17", Certain},
		{"\x1b[36m[dotenv@17.2.3]\x1b[39m injecting env", "dotenv17", Certain},
		{"\ufeff", "bom", Generic},
		{"\x1b]0;title\x07> pkg@1.0.0 start", "npm-banner", Certain},
		{`{"level":30,"time":1,"pid":2,"hostname":"h","msg":"x"}`, "pino", Likely},
		{`{"name":"elastic-otel-node","level":40,"msg":"shutdown may only be called once","time":"2026"}`, "elastic-otel", Certain},
		{`{"time":"2026","level":"INFO","source":{},"msg":"x"}`, "go-slog", Likely},
		{`{"level":"info","ts":1.5,"caller":"a.go:1","msg":"x"}`, "go-zap", Likely},
		{`{"msg":"x","severity":"INFO"}`, "json-logger", Likely},
		{`{"type":"info","message":"HTTP_SERVER_STARTED","data":{},"timestamp":"2026"}`, "json-logger", Likely},
		{"    at Object.<anonymous> (/srv/index.js:3:9)", "stack-trace", Likely},
		{"Traceback (most recent call last):", "stack-trace", Likely},
		{"panic: runtime error: index out of range", "stack-trace", Likely},
		{"$ node dist/index.js", "yarn", Likely},
		{"[nodemon] starting `node x`", "nodemon", Likely},
		{"> nx run mcp:serve", "nx", Likely},
		{"• Packages in scope: a", "turbo", Likely},
		{"[nltk_data] Downloading package punkt", "nltk", Likely},
		{"Requirement already satisfied: mcp", "pip", Likely},
		{"Downloading numpy", "download", Likely},
		{"Need to install the following packages:", "npx-prompt", Certain},
		{"Batches: 100%|██████████| 1/1", RuleRuntime, Generic},
		{"", RuleRuntime, Generic},
	} {
		got := Recognise([]byte(test.text), Context{})
		if got.Rule != test.rule || got.Culprit.Confidence != test.grade {
			t.Errorf("%q: rule %s (%s), want %s (%s)", test.text, got.Rule, got.Culprit.Confidence, test.rule,
				test.grade)
		}
	}
}

// TestPrinters tells what a server prints with from its command line.
func TestPrinters(t *testing.T) {
	for _, test := range []struct{ command, want string }{
		{"node x.js", "node"},
		{"/usr/bin/node20 x.js", "node"},
		{"npx -y a", "node"},
		{`C:\nodejs\npx.cmd -y a`, "node"},
		{"cmd /c npx -y a", "node"},
		{"bunx a", "node"},
		{"./dist/index.mjs", "node"},
		{"python3.12 -m a", "python"},
		{"uvx a", "python"},
		{"env A=1 uv run x", "python"},
		{"timeout 10 python x.py", "python"},
		{"dotnet run", "dotnet"},
		{"java -jar x.jar", "java"},
		{"php8.3 artisan mcp", "php"},
		{"cargo run", "rust"},
		{"go run .", "go"},
		{"bundle exec x", "ruby"},
		{"docker run -i x", "docker"},
		{"./start.sh", "shell"},
		{"bash start", "shell"},
		{"./server", ""},
		{"", ""},
	} {
		if got := PrinterOf(strings.Fields(test.command)).Name; got != test.want {
			t.Errorf("%q: %q, want %q", test.command, got, test.want)
		}
	}
	script := []string{"sh", "-c", "cd /srv && A=1 node index.js"}
	if got := PrinterOf(script).Name; got != "node" {
		t.Errorf("%q: %q, want node", script, got)
	}
}

// FuzzRecognise gives any text and any surroundings: there is always an answer with
// a name, a grade and a fix, none of them made of the text itself.
func FuzzRecognise(f *testing.F) {
	for _, s := range samples() {
		f.Add([]byte(s.text), strings.Join(s.nearby, "\n"), s.command)
	}
	f.Fuzz(func(t *testing.T, text []byte, nearby, command string) {
		got := Recognise(text, Context{Nearby: strings.Split(nearby, "\n"), Command: strings.Fields(command)})
		if got.Rule == "" || got.Culprit.Name == "" || got.InServer == "" {
			t.Errorf("%q: %+v", text, got)
		}
		switch got.Culprit.Confidence {
		case Certain, Likely, Generic:
		default:
			t.Errorf("%q: graded %q", text, got.Culprit.Confidence)
		}
		if len(got.Culprit.Name)+len(got.InServer)+len(got.Outside) > 600 ||
			!utf8.ValidString(got.Outside) && utf8.ValidString(command) {
			t.Errorf("%q: %+v", text, got)
		}
	})
}
