package culprit

// The fixes that several rules share.
const (
	QuietDotenv    = "dotenv.config({ quiet: true })"
	quietDotenvEnv = "add DOTENV_CONFIG_QUIET=true to this server's env (in .env it is read too late)"
	RustStderr     = "tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false)"
	rustEnv        = "add RUST_LOG=off (or error) and NO_COLOR=1 to this server's env"
	dotnetStderr   = "AddConsole(o => o.LogToStandardErrorThreshold = LogLevel.Trace)"
	dotnetEnv      = "add Logging__LogLevel__Default=None to this server's env"
	pythonStderr   = "logging.StreamHandler(sys.stderr), or logging.basicConfig(stream=sys.stderr)"
	phpStderr      = "ini_set('display_errors', 'stderr')"
	phpFlag        = "start it with php -d display_errors=stderr …"
	springOff      = "spring.main.banner-mode=off, and logback's console appender with <target>System.err</target>"
	springEnv      = "add SPRING_MAIN_BANNER_MODE=off to this server's env"
	BannerOff      = "mcp.run(show_banner=False)"
	bannerEnv      = "add FASTMCP_SHOW_SERVER_BANNER=false to this server's env"
	laravelStderr  = "write with the console output's error stream ($output->getErrorOutput())"
	laravelUpdate  = "update php-mcp/laravel to 3.1.0 or newer"
	npmSilent      = "start what the script starts (node dist/index.js), use npm run --silent, or add npm_config_loglevel=silent to this server's env"
	pnpmSilent     = "pnpm --silent, or start the built file: node dist/index.js"
	directly       = "install it and start the program itself instead of building it at each start"
)

// timeStamp is how a line of any logger begins.
const timeStamp = `^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d`

// Patterns that several shapes share.
const (
	boxBorder  = `^\s*(\+[-=+]{7,}|[│┃╭╮╰╯┌┐└┘├┤─━═║╔╗╚╝]{8,})`
	anyBorder  = `^\s*[│┃╭╮╰╯┌┐└┘├┤─━═║╔╗╚╝+=*#-]{8,}`
	fastMCP    = `(?i)fastmcp|gofastmcp|deploy free`
	jsonLevel  = `"(level|severity|lvl|levelname|@l)"\s*:`
	jsonText   = `"(msg|message|event|@m)"\s*:`
	PinoStderr = "pino(opts, pino.destination(2)); winston: stderrLevels; else console.error"
)

// rules are all rules in their order: the first that matches wins.
var rules = []rule{
	// What libraries print by themselves, so that the author of a server may have no idea. Loggers with time stamps of
	// their own come before any time stamp.
	{
		id: "dotenv17", name: "dotenv 17 (npm)", confidence: Certain, inServer: QuietDotenv, outside: quietDotenvEnv,
		pattern: `^\[dotenv@\d+\.\d+\.\d+\] inject`,
	},
	{
		id: "dotenv17-new", name: "dotenv 17 (npm)", confidence: Certain,
		inServer: QuietDotenv, outside: quietDotenvEnv,
		pattern: `^◇ injected env \(\d+\) from`,
	},
	{
		id: "nestjs", name: "NestJS Logger", confidence: Certain,
		inServer: "NestFactory.create(App, { logger: false }), or a logger that writes to stderr",
		pattern:  `^\[Nest\]`,
	},
	{
		id: "rust-tracing", name: "tracing_subscriber (Rust)", confidence: Likely,
		inServer: RustStderr, outside: rustEnv,
		sure:    `^\x1b\[2m`,
		pattern: `^\d{4}-\d\d-\d\dT[\d:.]+Z\s+(TRACE|DEBUG|INFO|WARN|ERROR)\b`,
	},
	{
		id: "tower-http", name: "tower-http's TraceLayer (Rust)", confidence: Likely,
		inServer: RustStderr, outside: rustEnv,
		pattern: `^(ERROR|DEBUG) (response failed|finished processing request|started processing request)`,
	},
	{
		id: "dotnet-console", name: ".NET console logger", confidence: Certain,
		inServer: dotnetStderr, outside: dotnetEnv,
		pattern: `^(trce|dbug|info|warn|fail|crit): [\w.]+\[\d+\]`,
		beside:  `^ {6}\S`,
	},
	{
		id: "python-mcp-cli", name: "mcp/cli/cli.py of the Python SDK, without its extra", confidence: Certain,
		inServer: "depend on mcp[cli]", outside: `start it with uv run --with "mcp[cli]" …`,
		pattern: `^Error: typer is required\.`,
	},
	{
		id: "python-sdk", name: "Python SDK's logger, pointed at stdout", confidence: Certain, stderr: true,
		inServer: pythonStderr,
		outside:  "add FASTMCP_LOG_LEVEL=ERROR to this server's env",
		pattern:  `^(INFO:?\s+)?Processing request of type \w+Request`,
	},
	{
		id: "python-rich", name: "rich's logging handler (Python)", confidence: Likely,
		inServer: "RichHandler(console=Console(stderr=True))",
		pattern:  `^\[\d\d/\d\d/\d\d \d\d:\d\d:\d\d\] (DEBUG|INFO|WARNING|ERROR)`,
	},
	{
		id: "python-logging", name: "Python logging, pointed at stdout", confidence: Certain, stderr: true,
		inServer: pythonStderr,
		pattern:  `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - .* - (DEBUG|INFO|WARNING|ERROR|CRITICAL)`,
	},
	{
		id: "timestamp", name: "a logger with time stamps (winston, log4j, …)", confidence: Generic, of: "node",
		inServer: "winston: new transports.Console({ stderrLevels: ['error','warn','info','http','verbose','debug','silly'] }); else process.stderr.write",
		pattern:  timeStamp,
	},
	{id: "timestamp", name: "a logger with time stamps", confidence: Generic, pattern: timeStamp},
	{
		id: "php-errors", name: "PHP's display_errors", confidence: Certain, inServer: phpStderr, outside: phpFlag,
		pattern: `^(PHP )?(Deprecated|Warning|Notice|Fatal error|Parse error):\s`,
	},
	{
		id: "php-psysh", name: "PsySH (Laravel's tinker)", confidence: Likely, inServer: phpStderr, outside: phpFlag,
		pattern: `^\s*<(warning|error|info|comment)>.*</(warning|error|info|comment)>`,
	},
	{
		id: "laravel", name: "Laravel console output", confidence: Likely,
		inServer: laravelStderr, outside: laravelUpdate,
		pattern: `^\s+- (Transport: STDIO|Communication: STDIN|Mode: JSON-RPC)`,
		beside:  `^Starting MCP server`,
	},
	{
		id: "wp-cli", name: "WP_CLI::line() (WordPress)", confidence: Likely,
		inServer: "WP_CLI::debug() instead of WP_CLI::line()",
		outside:  "pass --server", pattern: `^Using server: \S+$`,
	},
	{
		id: "spring-boot", name: "Spring Boot banner", confidence: Certain, inServer: springOff, outside: springEnv,
		pattern: `^ +\.   ____ +_ |:: Spring Boot ::`,
		beside:  `^[\s=\\/_|'().,:\-]*[\\/_|][\s=\\/_|'().,:\-]*(\w[\s=\\/_|'().,:\-]*)*$`,
	},
	{
		id: "sequelize", name: "Sequelize's default logger", confidence: Certain,
		inServer: "new Sequelize(…, { logging: false })",
		pattern:  `^Executing \(default\):`,
	},
	{
		id: "pygame", name: "pygame's greeting", confidence: Certain,
		inServer: "os.environ['PYGAME_HIDE_SUPPORT_PROMPT'] = 'hide' before import pygame",
		outside:  "add PYGAME_HIDE_SUPPORT_PROMPT=hide to this server's env",
		pattern:  `^pygame \d|^Hello from the pygame community`,
	},
	{
		id: "transformers-apex", name: "an old transformers (Python)", confidence: Certain, stderr: true,
		inServer: "update transformers", outside: "update transformers where the server is installed",
		pattern: `^Better speed can be achieved with apex`,
	},
	{
		id: "python-charmap", name: "print() of a character that the Windows code page lacks", confidence: Certain,
		stderr:   true,
		inServer: "sys.stdout.reconfigure(encoding='utf-8'); print(..., file=sys.stderr)",
		outside:  "add PYTHONUTF8=1 and PYTHONIOENCODING=utf-8 to this server's env",
		pattern:  `UnicodeEncodeError: 'charmap' codec`,
	},
	{id: "nltk", name: "NLTK's downloader", confidence: Likely, pattern: `^\[nltk_data\]`},

	// What tools print that build, find or start a server.
	{
		id: "dotnet-run", name: "dotnet run", confidence: Certain, inServer: "ship a built program",
		outside: "dotnet run --no-launch-profile, or start the built dll",
		pattern: `^Using launch settings from .*launchSettings\.json`,
	},
	{
		id: "npm-banner", name: "npm's banner of a script", confidence: Certain,
		inServer: "ship a program (bin in package.json) that needs no npm run", outside: npmSilent,
		pattern: `^> \S+@\d+\.\d+\.\d+\S* \S+`,
		beside:  `^> \S`,
	},
	{id: "nx", name: "Nx's banner of a task", confidence: Likely, outside: directly, pattern: `^> nx run `},
	{
		id: "npx-prompt", name: "npx, which asks whether to install", confidence: Certain,
		outside: "add -y to this server's args",
		pattern: `^Need to install the following packages:|^Ok to proceed\? \(y\)`,
	},
	{
		id: "npm", name: "npm", confidence: Likely,
		outside: "mend the package's name or path; install it, and start node <path>/dist/index.js",
		pattern: `^npm (ERR!|error|warn|WARN|notice)`,
	},
	{
		id: "pnpm-recursive", name: "pnpm's prefix of a workspace", confidence: Likely,
		inServer: "start the built file", outside: pnpmSilent,
		pattern: `^[\w./@-]+ [\w:.-]+\$ `,
	},
	{
		id: "yarn", name: "yarn's banner of a script", confidence: Likely,
		outside: "yarn --silent, or start the built file: node dist/index.js",
		pattern: `^yarn run v|^\$ \S`,
	},
	{
		id: "nodemon", name: "nodemon", confidence: Likely, outside: "start node itself, or nodemon --quiet",
		pattern: `^\[nodemon\]`,
	},
	{id: "turbo", name: "Turborepo", confidence: Likely, outside: directly, pattern: `^• (Packages in scope|Running )`},
	{
		id: "pip", name: "pip", confidence: Likely, outside: directly,
		pattern: `^Requirement already satisfied|^Collecting |^Successfully installed `,
	},
	{
		id: "download", name: "an installer", confidence: Likely, outside: directly,
		pattern: `^(Downloading|Installing)\b`,
	},
	{
		id: "maven", name: "Maven's build log", confidence: Likely,
		inServer: "ship a jar", outside: "java -jar app.jar instead of mvn spring-boot:run (or mvn -q)",
		pattern: `^(\[INFO\]|\[WARNING\]|\[ERROR\]) |^\[INFO\] Scanning for projects`,
	},
	{
		id: "nvm", name: "nvm in a shell's profile", confidence: Likely, inServer: "nvm use --silent",
		outside: "start node by its full path and no login shell; or guard the profile with case $- in *i*)",
		pattern: `(?i)^Now using node v?\d|^Now using node <`,
	},
	{
		id: "bash-usage", name: "a container whose entrypoint is bash", confidence: Certain,
		inServer: "set the image's ENTRYPOINT to the server",
		outside:  "give docker run the image's right arguments", pattern: `^Usage:\s+\S*/?(ba)?sh \[GNU long option\]`,
	},

	// Kinds of text by their shape.
	{
		id: "content-length", name: "framing of the Language Server Protocol", confidence: Certain,
		inServer: "end each message with a newline instead of a Content-Length header",
		pattern:  `(?i)^Content-Length: \d+`,
	},
	{
		id: "crlf", name: "stdout in text mode (Windows)", confidence: Likely,
		inServer: `Python: TextIOWrapper(sys.stdout.buffer, newline=""); C: _setmode(_fileno(stdout), _O_BINARY)`,
		pattern:  `^\r$`,
	},
	{
		id: "fastmcp-banner", name: "FastMCP's banner", confidence: Certain, stderr: true,
		inServer: BannerOff, outside: bannerEnv,
		near: fastMCP, pattern: boxBorder + `|^\s*[│┃|║]`,
	},
	{
		id: "fastmcp-banner", name: "FastMCP's banner", confidence: Certain, stderr: true,
		inServer: BannerOff, outside: bannerEnv,
		near: boxBorder, pattern: fastMCP,
	},
	{
		id: "fastmcp-banner", name: "FastMCP's banner", confidence: Certain, stderr: true,
		inServer: BannerOff, outside: bannerEnv,
		pattern: `(?s)` + boxBorder + `.*(?i:fastmcp)`,
	},
	{id: "banner", name: "a banner", printed: true, confidence: Generic, pattern: anyBorder},
	{
		id: "banner", name: "a banner", printed: true, confidence: Generic, near: anyBorder,
		pattern: `^\s*[│┃|║]|(?i)\bmcp\b`,
	},
	{id: "html", name: "an HTML page, of a proxy or logged", confidence: Generic, pattern: `(?i)^<(!DOCTYPE|html|div)`},
	{
		id: "pino", name: "pino or bunyan (npm)", confidence: Likely, inServer: "pino(opts, pino.destination(2))",
		pattern: `^\{.*"level"\s*:\s*[1-6]0\b.*"msg"\s*:`,
	},
	{
		id: "go-slog", name: "slog (Go)", confidence: Likely, inServer: "slog.New(slog.NewJSONHandler(os.Stderr, nil))",
		pattern: `^\{"time":"[^"]*","level":"(DEBUG|INFO|WARN|ERROR)[^"]*",.*"msg":`,
	},
	{
		id: "go-zap", name: "zap (Go)", confidence: Likely, inServer: `zap.Config{OutputPaths: []string{"stderr"}}`,
		pattern: `^\{"level":"\w+","ts":.*"msg":`,
	},
	{
		id: "json-logger", name: "a logger that writes JSON", confidence: Likely, of: "node", inServer: PinoStderr,
		pattern: `(?s)^\s*\{.*` + jsonLevel + `.*` + jsonText + `|(?s)^\s*\{.*` + jsonText + `.*` + jsonLevel,
	},
	{
		id: "json-logger", name: "a logger that writes JSON", confidence: Likely,
		pattern: `(?s)^\s*\{.*` + jsonLevel + `.*` + jsonText + `|(?s)^\s*\{.*` + jsonText + `.*` + jsonLevel,
	},
	{id: "glued", name: "text on a message's line", printed: true, confidence: Generic, pattern: `(?s)^.+\{"jsonrpc"`},
	{
		id: "json-result", name: "a result of the program's own, as JSON", printed: true, confidence: Generic,
		pattern: `(?s)^\s*\{\s*"[^"]*"\s*:.*\}\s*$`,
	},
	{
		id: "stack-trace", name: "a stack trace", confidence: Likely,
		inServer: "write uncaught errors to stderr, and catch them in handlers",
		pattern:  `^\s+at .*(\(.*:\d+:\d+\)|:\d+:\d+|\(.*\.java:\d+\))$|^Traceback \(most recent call last\)|^goroutine \d+ \[|^panic: `,
	},
	{
		id: "usage", name: "help text: the arguments are wrong", confidence: Likely,
		inServer: "write help to stderr when no one asked for it, and exit with 2",
		outside:  "add the sub-command or flag that starts the server (start, serve, mcp, stdio, --stdio) to this server's args",
		pattern:  `^(Usage|USAGE|usage)\b`,
	},
	{
		id: "util-inspect", name: "console.log of an object", confidence: Likely, of: "node",
		pattern: `^[\w .'"-]+: (\[|\{)( .*[\]}])?$`,
	},
	{
		id: "startup", name: "a start-up message", printed: true, confidence: Likely,
		pattern: `(?i)\bmcp\b.*\b(running|started|starting|listening|ready|version|initialized|connected)\b|\b(running|started|starting|listening|ready)\b.*\bmcp\b|server mode: \w|\b(running|listening|started) on (stdio|https?://)|^(starting|started|listening)\b`,
	},
	{
		id: "emoji", name: "print() of a symbol", confidence: Generic, of: "python",
		inServer: "print(..., file=sys.stderr), in ASCII",
		outside:  "add PYTHONUTF8=1 and PYTHONIOENCODING=utf-8 to this server's env",
		pattern:  `^\s*[\x{2190}-\x{2BFF}\x{1F000}-\x{1FAFF}]`,
	},
}
