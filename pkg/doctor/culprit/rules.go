package culprit

import "slices"

// The fixes that several rules share, and those that other packages name.
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
	logbackStderr  = "the console appender with <target>System.err</target>"
	BannerOff      = "mcp.run(show_banner=False)"
	bannerEnv      = "add FASTMCP_SHOW_SERVER_BANNER=false to this server's env"
	laravelStderr  = "write with the console output's error stream ($output->getErrorOutput())"
	laravelUpdate  = "update php-mcp/laravel to 3.1.0 or newer"
	winstonStderr  = "new transports.Console({ stderrLevels: ['error','warn','info','http','verbose','debug'," +
		"'silly'] })"
	clackStderr = "give intro, log, note and prompts { output: process.stderr } (clack 1.0), or do not draw in a server"
	pinoStderr  = "pino(opts, pino.destination(2))"
	PinoStderr  = "pino(opts, pino.destination(2)); winston: stderrLevels; else console.error"
	npmSilent   = "start what the script starts (node dist/index.js), use npm run --silent, or add " +
		"npm_config_loglevel=silent to this server's env"
	pnpmSilent = "pnpm --silent, or start the built file: node dist/index.js"
	directly   = "install it and start the program itself instead of building it at each start"
)

// Patterns that several rules share.
const (
	timeStamp = `^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d` // how a line of any logger begins
	boxBorder = `^\s*(\+[-=+]{7,}|[│┃╭╮╰╯┌┐└┘├┤─━═║╔╗╚╝]{8,})`
	anyBorder = `^\s*[│┃╭╮╰╯┌┐└┘├┤┬┴┼─━═║╔╗╚╝╦╩╬+=*#-]{8,}`
	fastMCP   = `(?i)fastmcp|gofastmcp|deploy free`
	jsonLevel = `("(level|log\.level|severity|lvl|levelname|@l)"\s*:|"type"\s*:\s*"(debug|info|warn|error)")`
	// shutdownWords are in what servers print when they end.
	shutdownWords = `(?i)\bSIG(TERM|INT|HUP)\b|\bshut(ting)?[ -]?down\b|\b(stopp|exit|terminat|clos)(ing|ed)\b`
	jsonText      = `"(msg|message|event|@m)"\s*:`
)

// rules returns all rules in their order: the first that matches wins. What a library or a tool prints is known better
// than what a shape of text mostly means.
func rules() []rule { return slices.Concat(libraryRules(), toolRules, shapeRules) }

// nodeTools are the programs of npm's world that start others.
const nodeTools = "npm npx pnpm pnpx yarn yarnpkg bun bunx corepack node nodejs"

// toolRules know what tools print that build, find or start a server.
var toolRules = []rule{
	{
		id: "dotnet-run", name: "dotnet run", confidence: Certain, language: "dotnet", inServer: "ship a built program",
		outside: "dotnet run --no-launch-profile, or start the built dll",
		pattern: `^Using launch settings from .*launchSettings\.json`,
	},
	{
		id: "npm-banner", name: "npm's banner of a script", confidence: Certain, tools: nodeTools,
		inServer: "ship a program (bin in package.json) that needs no npm run", outside: npmSilent,
		pattern: `^> \S+@\d+\.\d+\.\d+\S* \S+`,
		beside:  `^> \S`,
	},
	{
		id: "nx", name: "Nx's banner of a task", confidence: Likely, tools: nodeTools, outside: directly,
		pattern: `^> nx run `,
	},
	{
		id: "npx-prompt", name: "npx, which asks whether to install", confidence: Certain, tools: nodeTools,
		outside: "add -y to this server's args",
		pattern: `^Need to install the following packages:|^Ok to proceed\? \(y\)`,
	},
	{
		id: "npm", name: "npm", confidence: Likely, tools: nodeTools,
		outside: "correct the package's name or path; install it, and start node <path>/dist/index.js",
		pattern: `^npm (ERR!|error|warn|WARN|notice)`,
	},
	{
		id: "pnpm-recursive", name: "pnpm's prefix of a workspace", confidence: Likely, tools: nodeTools,
		inServer: "start the built file", outside: pnpmSilent,
		pattern: `^[\w./@-]+ [\w:.-]+\$ `,
	},
	{
		id: "yarn", name: "yarn's banner of a script", confidence: Likely,
		tools:   "yarn yarnpkg npm npx pnpm corepack",
		outside: "yarn --silent, or start the built file: node dist/index.js",
		pattern: `^yarn run v|^\$ \S`,
	},
	{
		id: "nodemon", name: "nodemon", confidence: Likely, tools: "nodemon " + nodeTools,
		outside: "start node itself, or nodemon --quiet",
		pattern: `^\[nodemon\]`,
	},
	{
		id: "ts-node-dev", name: "ts-node-dev (npm)", confidence: Certain, language: "node",
		outside: "ts-node-dev --quiet, or start the built file: node dist/index.js",
		pattern: `^\[INFO\] \d\d:\d\d:\d\d (ts-node-dev ver\.|Restarting: )`,
	},
	{
		id: "tsc-watch", name: "tsc --watch (TypeScript)", confidence: Likely, language: "node",
		outside: "build once, and start the built file: node dist/index.js",
		pattern: `^\[?\d\d?:\d\d:\d\d( [AP]M)?\]? (- )?(Starting compilation in watch mode|File change detected)`,
	},
	{
		id: "turbo", name: "Turborepo", confidence: Likely, tools: "turbo npx npm pnpm yarn bun bunx",
		outside: directly,
		pattern: `^• (Packages in scope|Running )`,
	},
	{
		id: "pip", name: "pip", confidence: Likely, outside: directly,
		tools:   "pip pip3 uv uvx pipx poetry pdm hatch conda",
		pattern: `^Requirement already satisfied|^Collecting |^Successfully installed `,
	},
	{
		id: "download", name: "an installer", confidence: Likely, outside: directly,
		tools: "pip pip3 uv uvx pipx poetry pdm conda mvn mvnw gradle gradlew composer bundle gem cargo jbang " +
			"apt-get",
		pattern: `^(Downloading|Installing)\b`,
	},
	{
		id: "maven", name: "Maven's build log", confidence: Likely, tools: "mvn mvnw",
		inServer: "ship a jar", outside: "java -jar app.jar instead of mvn spring-boot:run (or mvn -q)",
		pattern: `^(\[INFO\]|\[WARNING\]|\[ERROR\]) `,
	},
	{
		id: "nvm", name: "nvm in a shell's profile", confidence: Likely, inServer: "nvm use --silent",
		outside: "start node by its full path and no login shell; or guard the profile with case $- in *i*)",
		pattern: `(?i)^Now using node v?\d|^Now using node <`,
	},
	{
		id: "bash-usage", name: "a container whose entrypoint is bash", confidence: Certain,
		inServer: "set the image's ENTRYPOINT to the server",
		outside:  "give docker run the image's right arguments",
		pattern:  `^Usage:\s+\S*/?(ba)?sh \[GNU long option\]`,
	},
}

// shapeRules know kinds of text by their shape.
var shapeRules = []rule{
	{
		// Loggers of npm write the time in other forms; this is what toISOString returns.
		id: "timestamp", name: "a print with the time", printed: true, confidence: Generic,
		language: "node", known: true,
		pattern: `^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\] `,
	},
	{
		id: "timestamp", name: "a logger with time stamps (winston, log4js, …)", confidence: Generic,
		language: "node", known: true,
		inServer: "winston: " + winstonStderr + "; else console.error",
		pattern:  timeStamp,
	},
	{id: "timestamp", name: "a logger with time stamps", confidence: Generic, pattern: timeStamp},
	{
		id: "content-length", name: "framing of the Language Server Protocol", confidence: Certain,
		inServer: "end each message with a newline instead of a Content-Length header",
		pattern:  `(?i)^Content-Length: \d+`,
	},
	{
		id: "crlf", name: "stdout in text mode (Windows)", confidence: Likely, language: "python",
		inServer: `Python: TextIOWrapper(sys.stdout.buffer, newline=""); C: _setmode(_fileno(stdout), _O_BINARY)`,
		pattern:  `^\r$`,
	},
	{
		id: "fastmcp-banner", name: "FastMCP's banner", confidence: Certain, language: "python", stderr: true,
		inServer: BannerOff, outside: bannerEnv,
		near: fastMCP, pattern: boxBorder + `|^\s*[│┃|║]`,
	},
	{
		id: "fastmcp-banner", name: "FastMCP's banner", confidence: Certain, language: "python", stderr: true,
		inServer: BannerOff, outside: bannerEnv,
		near: boxBorder, pattern: fastMCP,
	},
	{
		id: "fastmcp-banner", name: "FastMCP's banner", confidence: Certain, language: "python", stderr: true,
		inServer: BannerOff, outside: bannerEnv,
		pattern: `(?s)` + boxBorder + `.*(?i:fastmcp)`,
	},
	{id: "banner", name: "a banner or a table", printed: true, confidence: Generic, pattern: anyBorder},
	{
		id: "banner", name: "a banner or a table", printed: true, confidence: Generic, near: anyBorder,
		pattern: `^\s*[│┃|║]|(?i)\bmcp\b`,
	},
	{
		id: "html", name: "an HTML page, of a proxy or logged", confidence: Generic,
		pattern: `(?i)^<(!DOCTYPE|html|div)`,
	},
	{
		id: "json-logger", name: "a logger that writes JSON", confidence: Likely, language: "node", known: true,
		inServer: PinoStderr,
		pattern:  `(?s)^\s*\{.*` + jsonLevel + `.*` + jsonText + `|(?s)^\s*\{.*` + jsonText + `.*` + jsonLevel,
	},
	{
		id: "json-logger", name: "a logger that writes JSON", confidence: Likely,
		pattern: `(?s)^\s*\{.*` + jsonLevel + `.*` + jsonText + `|(?s)^\s*\{.*` + jsonText + `.*` + jsonLevel,
	},
	{
		id: "glued", name: "text on a message's line", printed: true, confidence: Generic,
		pattern: `(?s)^.+\{"jsonrpc"`,
	},
	{
		id: "json-result", name: "a result of the program's own, as JSON", printed: true, confidence: Generic,
		pattern: `(?s)^\s*\{\s*"[^"]*"\s*:.*\}\s*$`,
	},
	{
		id: "stack-trace", name: "a stack trace", confidence: Likely,
		inServer: "write uncaught errors to stderr, and catch them in handlers",
		pattern: `^\s+at .*(\(.*:\d+:\d+\)|:\d+:\d+|\(.*\.java:\d+\))$|^Traceback \(most recent call last\)|` +
			`^goroutine \d+ \[|^panic: `,
	},
	{
		id: "usage", name: "help text: the arguments are wrong", confidence: Likely,
		inServer: "write help to stderr when no one asked for it, and exit with 2",
		outside: "add the sub-command or flag that starts the server (start, serve, mcp, stdio, --stdio) to this " +
			"server's args",
		pattern: `^(Usage|USAGE|usage)(:|\s*$|\s+\S+\s+[<\[-])`,
		beside:  `^NAME:$`,
	},
	{
		id: "util-inspect", name: "console.log of an object", confidence: Likely, language: "node", known: true,
		pattern: `^[\w .'"-]+: (\[|\{)( .*[\]}])?$|^\{ \w+: .*\}$`,
	},
	{
		id: "startup", name: "a start-up message", printed: true, confidence: Likely, not: shutdownWords,
		pattern: `(?i)\bmcp\b.*\b(running|started|starting|listening|ready|version|initialized|connected)\b|` +
			`\b(running|started|starting|listening|ready)\b.*\bmcp\b|server mode: \w|` +
			`\b(running|listening|started) on (stdio|https?://)|^(starting|started|listening)\b`,
	},
	{
		id: "shutdown", name: "a message of the shutdown", printed: true, confidence: Likely,
		pattern: `(?i)\breceived SIG[A-Z]+\b|\b(shutting|closing) down\b|\bgraceful(ly)? shut`,
	},
	{
		id: "emoji", name: "print() of a symbol", confidence: Generic, language: "python", known: true,
		inServer: "print(..., file=sys.stderr), in ASCII",
		outside:  "add PYTHONUTF8=1 and PYTHONIOENCODING=utf-8 to this server's env",
		pattern:  `^\s*[\x{2190}-\x{2BFF}\x{1F000}-\x{1FAFF}]`,
	},
}
