package culprit

import (
	"slices"
	"strings"
	"testing"
)

// printed are lines as libraries wrote them to stdout, and as servers in several languages write their own, each under
// the command that a server of that language is started with.
func printed() []struct{ command, text, rule, grade, fix string } {
	const (
		node, python, java, goProgram = "node server.js", "python -m server", "java -jar server.jar", "go ./server"
		rust, dotnet, php, ruby       = "rust ./server", "dotnet server.dll", "php artisan mcp", "ruby server.rb"
		native                        = "./server" // of an unknown language
	)
	return []struct{ command, text, rule, grade, fix string }{
		{node, `{"level":"info","message":"Server started","service":"mcp"}`, "winston", Likely, "stderrLevels"},
		{node, `info: Server started {"service":"mcp"}`, "winston", Likely, "stderrLevels"},
		{node, "\x1b[33mwarn\x1b[39m: Server started", "winston", Likely, "stderrLevels"},
		{node, "\x1b[32minfo\x1b[39m:    Server started", "winston", Likely, "stderrLevels"},
		{node, `{"level":"\u001b[32minfo\u001b[39m","message":"Server started"}`, "winston", Certain, "stderrLevels"},
		{node, "2026-11-22T21:42:15.968Z \x1b[32minfo\x1b[39m: Server started", "winston", Likely, "stderrLevels"},
		{node, "2026-11-22 21:42:15 [\x1b[31merror\x1b[39m]: \x1b[31mbad\x1b[39m", "winston", Likely, "stderrLevels"},
		{node, "\x1b[32m[2026-11-22T21:42:16.134] [INFO] default - \x1b[39mServer started", "log4js", Certain, "type: 'stderr'"},
		{node, `{"name":"mcp","component":"x","hostname":"vm","pid":12829,"level":30,"a":1,"msg":"x","v":0}`, "bunyan", Certain, "stream: process.stderr"},
		{node, `{"level":30,"time":1795383736223,"pid":12829,"hostname":"vm","name":"mcp","msg":"x"}`, "pino", Likely, "pino.destination(2)"},
		{node, `{"level":"info","time":"2026-11-22T21:42:16.228Z","pid":12829,"hostname":"vm","msg":"hello"}`, "pino", Likely, "pino.destination(2)"},
		{node, `{"level":30,"time":1795383736228,"msg":"hello"}`, "pino", Likely, "pino.destination(2)"},
		{node, "[21:42:16.353] INFO (a/12829): hello", "pino-pretty", Likely, "destination: 2"},
		{node, "[2026-11-22 21:42:16.356 +0000] \x1b[32mINFO\x1b[39m (12829): \x1b[36mhello\x1b[39m", "pino-pretty", Likely, "destination: 2"},
		{node, "[21:42:16.357] \x1b[33mWARN\x1b[39m: \x1b[36mhello\x1b[39m", "pino-pretty", Likely, "destination: 2"},
		{node, "✔  success   yes", "signale", Likely, "process.stderr"},
		{node, "[mcp] › ℹ  info      hello", "signale", Likely, "process.stderr"},
		{node, "✔ How would you like to authenticate? › Enter API key manually", "prompts", Likely, "isTTY"},
		{node, "┌  my server", "clack", Likely, "process.stderr"},
		{node, "ℹ hello", "consola", Generic, "createConsola"},
		{node, "2026-11-22 21:42:16.715\tINFO\tw.cjs:26\tx\thello", "tslog", Likely, "attachTransport"},
		{node, `{"message":"hello","level":"INFO","_logMeta":{"v":5,"runtime":"node"}}`, "tslog", Likely, "attachTransport"},
		{node, `{"context":{},"message":"hi","sequence":"0","time":1795383739050,"version":"2.0.0"}`, "roarr", Certain, "ROARR_STREAM"},
		{node, "⟐ injected env (1) from .env", "dotenvx", Certain, "quiet: true"},
		{
			node, `{"name":"elastic-otel-node","level":30,"preamble":true,"distroVersion":"1.18.0","msg":"start EDOT Node.js"}`,
			"elastic-otel", Certain, "OTEL_LOG_LEVEL=none",
		},
		{node, "[FastMCP info] server is running on HTTP Stream at http://localhost:8080/mcp", "fastmcp-node", Certain, "logger"},
		{node, "prisma:query SELECT 1", "prisma", Certain, "PrismaClient"},
		{
			node, `127.0.0.1 - - [27/Nov/2026:09:28:29 +0000] "GET / HTTP/1.1" 200 1 "-" "-"`,
			"morgan", Certain, "stream: process.stderr",
		},
		{node, "\x1b[0mGET / \x1b[32m200\x1b[0m 2.002 ms - 1\x1b[0m", "morgan", Certain, "stream: process.stderr"},
		{node, "i18next: languageChanged en", "i18next", Certain, "debug: false"},
		{
			node, "\x1b[32m[llm/start]\x1b[39m [\x1b[90m\x1b[1m1:llm:ChatModel\x1b[22m\x1b[39m] Entering LLM run",
			"langchain", Certain, "verbose: false",
		},
		{node, "09:28:03.573 › stock is loaded", "electron-log", Likely, "writeFn"},
		{node, "[2026-11-27T09:28:24.936Z] INFO  shop/BROKER: It is starting", "moleculer", Certain, "logger: false"},
		{node, "2026-11-27T09:28:49+0000 <info> a.js:1 (main) stock is loaded", "tracer", Likely, "transport:"},
		{node, "<-- GET /", "hono-logger", Certain, "console.error"},
		{node, "[11:52:30.219] INFO (#1): up { count: 3 }", "effect", Certain, "LogToStderr"},
		{node, "timestamp=2026-11-27T11:53:57.490Z level=INFO fiber=#3 message=up", "effect", Certain, "withConsoleError"},
		{node, `{"message":"up","level":"INFO","fiberId":"#1"}`, "effect", Certain, "LogToStderr"},
		{node, "progress [████████████████████░░░░░░░░░░] 66%", "progress", Generic, "process.stderr"},
		{node, "  <-- GET /", "koa-logger", Certain, "console.error"},
		{node, "[INFO]  web-api:WebClient:0 stock is loaded", "slack-logger", Likely, "WebClient"},
		{node, "CLI Building entry: x.ts", "bundler", Certain, "built file"},
		{node, "asset main.js 1.92 KiB [emitted] (name: main)", "bundler", Certain, "built file"},
		{node, "  ➜  Local:   http://127.0.0.1:5173/", "bundler", Certain, "built file"},
		{node, "❯ Load the stock", "listr2", Generic, "renderer: 'silent'"},
		{
			node, `{"log.level":"info","log.logger":"elastic-apm-node","message":"up"}`,
			"elastic-apm", Certain, "ELASTIC_APM_LOG_LEVEL=off",
		},
		{node, "[09:28:20] stock is loaded", "fancy-log", Generic, "log.error"},
		{node, "{ message: 'x', level: 'info' }", "winston", Likely, "stderrLevels"},
		{node, "{ message: 'x', items: 3 }", "util-inspect", Likely, "process.stderr"},
		{"npm run dev", "[INFO] 21:42:16 ts-node-dev ver. 2.0.0 (using ts-node ver. 10.9.2)", "ts-node-dev", Certain, "--quiet"},
		{"npm run dev", "9:42:16 PM - Starting compilation in watch mode...", "tsc-watch", Likely, "built file"},
		{node, "Received SIGTERM, shutting down...", "shutdown", Likely, "console.error"},
		{node, "[MCP][shutdown] Received SIGTERM, starting drain", "shutdown", Likely, "console.error"},

		// Servers in Node that write as programs in other languages do.
		{node, "[INFO] Scanning for projects...", RuleRuntime, Generic, "console.error"},
		{node, "[INFO] 12 tools loaded", RuleRuntime, Generic, "console.error"},
		{node, "[ERROR] no API key", RuleRuntime, Generic, "console.error"},
		{node, "Warning: no API key", RuleRuntime, Generic, "console.error"},
		{node, "Downloading the model", RuleRuntime, Generic, "console.error"},
		{node, "Collecting metrics", RuleRuntime, Generic, "console.error"},
		{node, "Usage tracking is on", RuleRuntime, Generic, "console.error"},
		{node, "usage: server [options]", "usage", Likely, "sub-command"},
		{node, "Usage server --stdio", "usage", Likely, "sub-command"},
		{node, "error: externally-managed-environment", RuleRuntime, Generic, "console.error"},
		{node, "✅ up", RuleRuntime, Generic, "console.error"},
		{node, "2026-11-22T21:42:15.968Z INFO up", "timestamp", Generic, "stderrLevels"},
		{node, "[2026-11-22T21:42:15.968Z] it is up", "timestamp", Generic, "console.error instead"},
		{node, "2026-11-22 21:42:15,968 - x - INFO - up", "timestamp", Generic, "stderrLevels"},
		{node, "Traceback (most recent call last):", "stack-trace", Likely, "stderr"},
		{"npx -y some-mcp", "$ ls", "yarn", Likely, "yarn --silent"},
		{node, "$ ls", RuleRuntime, Generic, "console.error"},
		{"mcp start", "✅ up", RuleRuntime, Generic, "stderr"}, // no Python by its name alone

		{python, "INFO:root:hi", "python-logging", Certain, "stream=sys.stderr"},
		{python, "2026-11-22 21:42:15,968 ERROR q: bad", "python-logging", Likely, "stream=sys.stderr"},
		{python, "2026-11-22 21:42:15 [info     ] hello                          a=1", "structlog", Certain, "PrintLoggerFactory"},
		{python, "2026-11-22 21:42:15.123 | INFO     | __main__:<module>:3 - hello", "loguru", Certain, "logger.add(sys.stderr)"},
		{python, `INFO:     127.0.0.1:5000 - "GET / HTTP/1.1" 200 OK`, "uvicorn", Certain, "access_log=False"},
		{python, "2026-11-27 11:16:14,312 INFO sqlalchemy.engine.Engine select 1", "sqlalchemy", Certain, "echo=False"},
		{python, " * Serving Flask app 'app'", "flask", Certain, "show_server_banner"},
		{python, "Watching for file changes with StatReloader", "django", Certain, "another process"},
		{python, "[I 261127 11:16:16 server:41] 200 GET /", "tornado", Certain, "sys.stderr"},
		{python, "2026-11-27 11:16:17+0000 [-] Log opened.", "twisted", Certain, "startLogging(sys.stderr)"},
		{python, "[27/Nov/2026:11:16:57]  up", "cherrypy", Likely, "log.screen"},
		{python, "[2026-11-27 11:16:43,952: INFO/MainProcess] up", "celery", Certain, "sys.stderr"},
		{python, "[2026-11-27 11:17:10 +0000] [23788] [INFO] Starting gunicorn 20.1.0", "gunicorn", Likely, "accesslog"},
		{python, "2026-11-27 11:16:22 vm tools[22730] INFO up", "coloredlogs", Likely, "sys.stderr"},
		{python, "2026-11-27 11:16:51.139 23437 INFO x [-] up", "oslo-log", Likely, "sys.stderr"},
		{python, "[2026-11-27 11:16:19.414527] INFO: tools: up", "logbook", Likely, "sys.stderr"},
		{python, "I1127 10:39:16.123456   12829 main.py:12] up", "absl", Certain, "sys.stdout"},
		{python, "[11:16:02] up                                           server.py:23", "python-rich", Likely, "stderr=True"},
		{python, "┏━━━━━━┳━━━━━━━┓", "python-rich", Likely, "stderr=True"},
		{python, "\r  0%|          | 0/10 [00:00<?, ?it/s]\r100%|██████████|", "tqdm", Certain, "sys.stderr"},
		{python, `{"text": "2026-11-27 11:16:52.877 | INFO     | __main__:f:13 - up\n", "record": {}}`, "loguru", Certain, "sys.stderr"},
		{python, `{"count": 3, "event": "up", "level": "info", "timestamp": "2026-11-27T11:16:56Z"}`, "structlog", Likely, "PrintLoggerFactory"},
		{python, `{"asctime": "2026-11-27 11:16:47,470", "levelname": "INFO", "message": "up"}`, "json-logger", Likely, "StreamHandler"},
		{python, `{"count": 3, "timestamp": 1795778212.9, "task_uuid": "f340d9e8"}`, "eliot", Certain, "to_file"},
		{python, "[INFO] 12 tools loaded", RuleRuntime, Generic, "sys.stderr"},
		{python, "Collecting metrics", RuleRuntime, Generic, "sys.stderr"},
		{python, "info: up", RuleRuntime, Generic, "sys.stderr"},
		{"uv run server.py", "Downloading numpy", "download", Likely, "start the program itself"},
		{python, "Downloading the model", RuleRuntime, Generic, "sys.stderr"},

		{"mvn -q spring-boot:run", "[INFO] Building server 1.0", "maven", Likely, "java -jar"},
		{java, "[INFO] 12 tools loaded", RuleRuntime, Generic, "System.err"},
		{java, "21:42:15.968 [main] INFO  com.example.Server - up", "logback", Certain, "System.err"},
		{java, "2026-11-22T21:42:15.968+01:00  INFO 12 --- [main] c.e.Server : up", "spring-log", Certain, "System.err"},
		{goProgram, "2026/11/22 21:42:15 up", "go-log", Likely, "os.Stderr"},
		{goProgram, "[tools] 2026/11/27 10:39:18 main.go:124: up", "go-log", Likely, "log.New(os.Stderr"},
		{native, "INFO: 2026/11/27 10:42:26 Error reading input", "go-log", Likely, "os.Stderr"},
		{goProgram, "2026-11-27T10:39:15.404Z\tINFO\tx/main.go:67\tup", "go-zap", Likely, "OutputPaths"},
		{goProgram, "1.7957759554390364e+09\tinfo\tx/main.go:68\tup", "go-zap", Likely, "OutputPaths"},
		{goProgram, `{"level":"info","count":3,"time":"2026-11-27T10:39:15Z","message":"up"}`, "zerolog", Likely, "os.Stderr"},
		{goProgram, "\x1b[90m10:39AM\x1b[0m \x1b[32mINF\x1b[0m \x1b[1mup\x1b[0m", "zerolog", Likely, "Out: os.Stderr"},
		{goProgram, "\x1b[2mNov 27 10:39:16.596\x1b[0m \x1b[92mINF\x1b[0m up", "tint", Likely, "NewHandler"},
		{goProgram, "2026/11/27 10:39:15 INFO up count=3", "charm-log", Likely, "SetOutput"},
		{goProgram, "WARN no cache", "charm-log", Generic, "SetOutput"},
		{goProgram, "INFO[0000] up", "logrus", Certain, "logrus.SetOutput"},
		{goProgram, `{"count":3,"level":"info","msg":"up","time":"2026-11-27T10:39:17Z"}`, "logrus", Likely, "logrus.SetOutput"},
		{goProgram, "\x1b[30;46m  INFO   \x1b[0m \x1b[96mup\x1b[0m", "pterm", Certain, "SetDefaultOutput"},
		{goProgram, "\x1b[90m2026-11-27 10:39:15\x1b[0m \x1b[1;36mINFO \x1b[0m up", "pterm", Certain, "WithWriter"},
		{goProgram, "⇨ http server started on 127.0.0.1:32985", "echo", Certain, "HideBanner"},
		{goProgram, `{"time":"2026-11-27T10:39:16.01Z","level":"INFO","prefix":"echo","message":"up"}`, "echo", Certain, "SetOutput"},
		{goProgram, " │                  Fiber v2.52.15                   │ ", "fiber", Certain, "DisableStartupMessage"},
		{goProgram, "10:39:16 | 200 |       1.761µs | 0.0.0.0 | GET | /api/items | -", "fiber", Certain, "Output: os.Stderr"},
		{goProgram, "2026/11/27 10:39:16.386956 main.go:82: [Info] up", "hlog", Certain, "SetOutput"},
		{goProgram, "INFO Server started on: \thttp://127.0.0.1:42093", "fiber", Certain, "DisableStartupMessage"},
		{goProgram, `{"time":"2026-11-27T11:01:42.76Z","level":"INFO","msg":"Echo (v5.4.5). High"}`, "echo", Certain, "in v5"},
		{goProgram, "[martini] Started GET /api/items for 192.0.2.1:1234", "martini", Certain, "os.Stderr"},
		{goProgram, "WARN[2026-11-27T11:01:01Z] up", "logrus", Certain, "logrus.SetOutput"},
		{goProgram, "Nov 27 11:00:58.417\x1b[36m [INFO] [count:3] \x1b[0mup", "logrus", Likely, "logrus.SetOutput"},
		{goProgram, "time=2026-11-27T11:00:47Z level=INFO source=main.go:83 msg=up", "go-slog", Likely, "os.Stderr"},
		{goProgram, `{"level":"info","timestamp":"2026-11-27T11:00:33Z","caller":"x/main.go:1","message":"up"}`, "go-zap", Likely, "OutputPaths"},
		{goProgram, "INFO : 2026/11/27 11:00:41.140941 main.go:79: up", "go-log", Likely, "os.Stderr"},
		{goProgram, "2026-11-27T10:39:16.764Z [INFO]  tools: up: count=3", "hclog", Likely, "os.Stderr"},
		{goProgram, `{"@level":"info","@message":"up","@timestamp":"2026-11-27T10:39:16.787574Z"}`, "hclog", Likely, "os.Stderr"},
		{goProgram, "t=2026-11-27T10:39:16+0000 lvl=info msg=up", "log15", Certain, "StderrHandler"},
		{goProgram, "I1127 10:39:16.123456   12829 main.go:12] up", "klog", Certain, "LogToStderr"},
		{goProgram, `{"@timestamp":"2026-11-27T10:39:17.690Z","content":"up","level":"info"}`, "go-zero", Certain, "os.Stderr"},
		{goProgram, "INFO ts=2026-11-27T10:39:17Z caller=x/main.go:110 msg=up", "kratos", Likely, "os.Stderr"},
		{goProgram, "ts=2026-11-27T10:39:16.64Z caller=main.go:92 level=info msg=up", "go-kit", Likely, "os.Stderr"},
		{goProgram, "[INFO] 2026/11/27 10:39 up", "golog", Certain, "golog.SetOutput"},
		{goProgram, "1795775956621265548 [Info] up", "seelog", Likely, "os.Stderr"},
		{goProgram, "10:39:17.600 main ▶ INFO 001 up", "go-logging", Likely, "os.Stderr"},
		{goProgram, "  INFO[0000] up", "apex", Likely, "os.Stderr"},
		{goProgram, "   • up              count=3", "apex", Likely, "os.Stderr"},
		{goProgram, "Iris Version: 12.2.11", "iris", Certain, "WithoutStartupLog"},
		{goProgram, `2026/11/27 10:39:16 "GET http://x/ HTTP/1.1" from 192.0.2.1:1 - 200 0B in 5µs`, "chi", Certain, "os.Stderr"},
		{goProgram, `192.0.2.1 - - [27/Nov/2026:10:39:16 +0000] "GET / HTTP/1.1" 200 0`, "gorilla", Likely, "os.Stderr"},
		{goProgram, "[negroni] 2026-11-27T10:39:17Z | 200 | x", "negroni", Certain, "ALogger"},
		{goProgram, "{\n\t\"Name\": \"load\",\n\t\"SpanContext\": {", "otel-stdout", Certain, "WithWriter"},
		{goProgram, "[xorm] [info]  2026/11/27 10:39:16.1234 [SQL] SELECT 1", "xorm", Certain, "os.Stderr"},
		{goProgram, "\r   1% |          |  [0s:0s]", "progressbar", Likely, "os.Stderr"},
		{goProgram, "(struct { Name string }) {", "spew", Likely, "Fdump"},
		{goProgram, "\x1b[32mstruct { Name string }\x1b[0m{", "pp", Likely, "SetDefaultOutput"},
		{goProgram, "[GIN-debug] [WARNING] Running in \"debug\" mode.", "gin", Certain, "GIN_MODE=release"},
		{goProgram, `time=2026-11-22T21:42:15.968Z level=INFO msg=up`, "go-slog", Likely, "os.Stderr"},
		{rust, "2026-11-22T21:42:15.968Z  INFO up", "rust-tracing", Likely, "RUST_LOG=off"},
		{rust, "[2026-11-22T21:42:15Z INFO  server] up", "env-logger", Likely, "Stderr"},
		{dotnet, "[21:42:15 INF] up", "serilog", Certain, "standardErrorFromLevel"},
		{php, "Warning: Undefined variable $x in /srv/x.php on line 3", "php-errors", Certain, "display_errors"},
		{php, "[2026-11-22T21:42:15.968+00:00] local.INFO: up [] []", "monolog", Certain, "php://stderr"},
		{ruby, "I, [2026-11-22T21:42:15.968123 #12]  INFO -- : up", "ruby-logger", Certain, "$stderr"},

		{native, "[INFO] 12 tools loaded", RuleRuntime, Generic, "stderr"},
		{native, "Warning: no API key", RuleRuntime, Generic, "stderr"},
		{native, "PHP Warning:  Undefined variable $x in /srv/x.php on line 3", "php-errors", Certain, "display_errors"},
		{native, "2026-11-22T21:42:15.968Z INFO up", "timestamp", Generic, "stderr"},
		{native, "2026-11-22T21:42:15.968123Z  INFO up", "rust-tracing", Likely, "with_writer"},
	}
}

func TestLibraries(t *testing.T) {
	for _, test := range printed() {
		got := Recognise([]byte(test.text), Context{Command: strings.Fields(test.command)})
		if got.Rule != test.rule || got.Culprit.Confidence != test.grade ||
			!strings.Contains(got.InServer+got.Outside, test.fix) {
			t.Errorf("%s, %q:\n got %+v\nwant %s (%s), %s", test.command, test.text, got, test.rule, test.grade,
				test.fix)
		}
	}
}

// TestKnownLanguage gives every known text to programs of every language: no rule of another one may take it.
func TestKnownLanguage(t *testing.T) {
	texts := make(map[string][]string) // with what is around them
	for _, s := range samples() {
		texts[s.text] = s.nearby
	}
	for _, one := range printed() {
		texts[one.text] = nil
	}
	for _, language := range []string{"node", "python", "dotnet", "java", "php", "rust", "go", "ruby"} {
		for text, nearby := range texts {
			got := Recognise([]byte(text), Context{Command: []string{language, "server"}, Nearby: nearby})
			mine := func(r *rule) bool { return r.ID == got.Rule && (r.language == "" || r.language == language) }
			if got.Rule != RuleRuntime && got.Rule != "bom" && !slices.ContainsFunc(readRules(), mine) {
				t.Errorf("a program in %s, %q: %+v", language, text, got)
			}
		}
	}
}

// TestBeside lets further programs that write to the same stdout be the culprit, and no others.
func TestBeside(t *testing.T) {
	for text, want := range map[string]string{
		"[21:42:15 INF] up": "serilog", "[dotenv@17.2.3] injecting env": "dotenv17", "INFO:root:hi": RuleRuntime,
	} {
		hint := Context{Command: []string{"node", "cli.js"}, Beside: [][]string{{"dotnet", "/opt/server"}}}
		if got := Recognise([]byte(text), hint); got.Rule != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
