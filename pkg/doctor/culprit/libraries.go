package culprit

import "slices"

// libraryRules know what libraries print by themselves, so that the author of a server may have no idea. A text of one
// of them is no other program's: where the language is not known, the shape must be its own.
func libraryRules() []rule {
	return slices.Concat(
		of("node", nodeRules), of("python", pythonRules), of("dotnet", dotnetRules), of("java", javaRules),
		of("php", phpRules), of("go", goRules), of("rust", rustRules), of("ruby", rubyRules),
	)
}

// of returns rules with their language.
func of(language string, list []rule) []rule {
	list = slices.Clone(list)
	for i := range list {
		list[i].language = language
	}
	return list
}

const (
	nodeLevels = `(error|warn|info|http|verbose|debug|silly)`
	pinoLevels = `(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)`
)

// nodeRules are those of libraries of npm.
var nodeRules = []rule{
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
		id: "dotenvx", name: "dotenvx (npm)", confidence: Certain, inServer: "dotenvx.config({ quiet: true })",
		outside: "dotenvx run --quiet -- …",
		pattern: `^\[dotenvx@\d+\.\d+\.\d+\] |^⟐ injected env \(\d+\) from`,
	},
	{
		id: "nestjs", name: "NestJS Logger", confidence: Certain,
		inServer: "NestFactory.create(App, { logger: false }), or a logger that writes to stderr",
		pattern:  `^\[Nest\]`,
	},
	{
		id: "elastic-otel", name: "Elastic's OpenTelemetry for Node (@elastic/opentelemetry-node)", confidence: Certain,
		inServer: "do not load @elastic/opentelemetry-node on stdio, or set OTEL_LOG_LEVEL=none before it is loaded",
		outside:  "add OTEL_LOG_LEVEL=none to this server's env (OTEL_SDK_DISABLED=true switches it off)",
		pattern:  `^\{"name":"elastic-otel-node"`,
	},
	{
		id: "elastic-apm", name: "Elastic's APM agent (elastic-apm-node)", confidence: Certain,
		inServer: "do not load elastic-apm-node on stdio, or give its start() a logger that writes to stderr",
		outside:  "add ELASTIC_APM_LOG_LEVEL=off to this server's env",
		pattern:  `^\{"log\.level":.*"elastic-apm-node"`,
	},
	{
		id: "otel-diag", name: "OpenTelemetry's diagnostic logger (npm)", confidence: Certain,
		inServer: "diag.setLogger with a logger that writes to stderr, instead of DiagConsoleLogger",
		outside:  "add OTEL_LOG_LEVEL=none to this server's env",
		pattern:  `^@opentelemetry/[\w-]+[:/]`,
	},
	{
		id: "bunyan", name: "bunyan (npm)", confidence: Certain,
		inServer: "bunyan.createLogger({ name, stream: process.stderr })",
		pattern:  `^\{"name":.*"hostname":"[^"]*","pid":\d+,"level":[1-6]0,`,
	},
	{
		id: "pino", name: "pino (npm)", confidence: Likely, inServer: pinoStderr,
		pattern: `^\{"level":([1-6]0|"\w+"),"time":("[^"]*"|\d+),"pid":\d+,"hostname":`,
	},
	{
		id: "pino", name: "pino, or a logger that writes as it does (npm)", confidence: Likely,
		inServer: pinoStderr + "; else console.error",
		pattern:  `^\{.*"level"\s*:\s*[1-6]0\b.*"msg"\s*:`,
	},
	{
		id: "effect", name: "Effect's logger (npm)", confidence: Certain,
		inServer: "provide Logger.LogToStderr (Effect 4), or a logger made by Logger.withConsoleError",
		pattern: `^\[\d\d:\d\d:\d\d\.\d{3}\] ` + pinoLevels + ` \(#\d+\)|` +
			`^timestamp=\S+ level=` + pinoLevels + ` fiber=#\d+ |^\{.*"fiberId":"#\d+"`,
	},
	{
		id: "pino-pretty", name: "pino-pretty (npm)", confidence: Likely,
		inServer: "transport: { target: 'pino-pretty', options: { destination: 2 } }",
		pattern: `^\[(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d{3}( [+-]\d{4})?\] ` + pinoLevels + `( \([^)]*\))?: |` +
			`^\[(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d( [+-]\d{4})?\] ` + pinoLevels + ` \([^)]*\): `,
		beside: `^ {4}\S`,
	},
	{
		id: "winston", name: "winston, coloured (npm)", confidence: Certain, inServer: winstonStderr,
		pattern: `^\{.*"level":"\\u001b\[\d+m` + nodeLevels,
	},
	{
		id: "winston", name: "winston (npm)", confidence: Likely, inServer: winstonStderr,
		pattern: `^` + nodeLevels + `: .*\{"(service|timestamp)":"`,
		raw:     `^[^\x1b]{0,40}\x1b\[\d+m` + nodeLevels + `\x1b\[39m`,
	},
	{
		id: "winston", name: "winston, or a logger that writes as it does (npm)", confidence: Likely, known: true,
		inServer: "winston: " + winstonStderr + "; else console.error",
		pattern:  `^(warn|info|http|verbose|debug|silly): +\S|^\{"level":"` + nodeLevels + `","message":`,
	},
	{
		// Many programs begin an error so; winston's levels are of one kind.
		id: "winston", name: "winston, or a logger that writes as it does (npm)", confidence: Likely, known: true,
		inServer: "winston: " + winstonStderr + "; else console.error",
		pattern:  `^error: +\S`, near: `^(warn|info|http|verbose|debug|silly): +\S`,
	},
	{
		id: "winston", name: "winston's prettyPrint (npm), or a print of such an object", confidence: Likely,
		inServer: "winston: " + winstonStderr + "; else console.error",
		pattern:  `^\{ message: '.*', level: '(\\x1B\[\d+m)?` + nodeLevels,
	},
	{
		id: "fancy-log", name: "fancy-log (npm), or a print with the time", confidence: Generic, known: true,
		inServer: "fancy-log: log.error instead of log; else console.error instead of console.log",
		pattern:  `^\[\d\d:\d\d:\d\d\] \S`,
	},
	{
		id: "log4js", name: "log4js (npm)", confidence: Certain,
		inServer: "log4js.configure({ appenders: { err: { type: 'stderr' } }, " +
			"categories: { default: { appenders: ['err'], level: 'info' } } })",
		pattern: `^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\] \[(TRACE|DEBUG|INFO|WARN|ERROR|FATAL|MARK)\] \S+ - `,
	},
	{
		id: "tslog", name: "tslog (npm)", confidence: Likely,
		inServer: "new Logger({ type: 'hidden' }), and attachTransport with what writes to stderr",
		pattern: `^\d{4}[.-]\d\d[.-]\d\d \d\d:\d\d:\d\d[.:]\d{3}\t(SILLY|TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\t|` +
			`^\{.*"_(logM|m)eta":\{.*"runtime":`,
	},
	{
		id: "signale", name: "signale (npm)", confidence: Likely,
		inServer: "new Signale({ stream: process.stderr })",
		pattern: `^(\[[^\]]*\] )*(› )?\S{1,3}  (info|success|start|debug|error|fatal|warning|note|complete|pending|await|` +
			`watch|star|fav|pause|log) {2,}\S`,
	},
	{
		id: "prompts", name: "prompts (npm), which asks on stdout", confidence: Likely,
		inServer: "ask only where process.stdin.isTTY is true",
		pattern:  `^[?✔✖] .+ [›…]( |$)`,
	},
	{
		id: "clack", name: "clack, which draws prompts (@clack/prompts, npm)", confidence: Likely,
		inServer: clackStderr,
		pattern:  `^[┌└◇◆●▲■]  \S`, // a border or a symbol, and two blanks
		beside:   `^[│└](  \S|$)`,
	},
	{
		id: "consola", name: "consola (npm), or a print with a symbol", confidence: Generic, known: true,
		inServer: "createConsola({ stdout: process.stderr }); else console.error",
		pattern:  `^[ℹ◐✔] \S`,
	},
	{
		id: "roarr", name: "roarr (npm)", confidence: Certain, inServer: "write to stderr: ROARR_STREAM=STDERR",
		outside: "add ROARR_STREAM=STDERR to this server's env, or take ROARR_LOG out of it",
		pattern: `^\{"context":\{.*"sequence":"[\d.]+","time":\d+,"version":"`,
	},
	{
		id: "fastmcp-node", name: "fastmcp (npm)", confidence: Certain,
		inServer: "new FastMCP({ logger }) with a logger that writes to stderr",
		pattern:  `^\[FastMCP (debug|info|log|warning|error)\]`,
	},
	{
		id: "morgan", name: "morgan (npm)", confidence: Certain, inServer: "morgan(format, { stream: process.stderr })",
		pattern: `^\S+ - \S+ \[\d\d/\w{3}/\d{4}:[\d:]+ [+-]\d{4}\] "[A-Z]+ \S+ HTTP/\d|` +
			`^(\S+ - )?[A-Z]+ /\S*( HTTP/[\d.]+)? (\d{3}|-) (\d+\.\d+ ms - |\d+ - \d+\.\d+ ms)`,
	},
	{
		id: "koa-logger", name: "koa-logger (npm)", confidence: Certain,
		inServer: "logger((text) => console.error(text))",
		pattern:  `^\s+(<--|-->|xxx|-x-) [A-Z]+ /`,
	},
	{
		id: "hono-logger", name: "Hono's logger (npm)", confidence: Certain,
		inServer: "logger((...text) => console.error(...text))",
		pattern:  `^(<--|-->) [A-Z]+ /`,
	},
	{
		id: "progress", name: "cli-progress (npm), or another progress bar", confidence: Generic, known: true,
		inServer: "new SingleBar({ stream: process.stderr }), its default; else console.error",
		pattern:  `[█░▒▓]{10,}`,
	},
	{
		id: "slack-logger", name: "Slack's logger (@slack/logger)", confidence: Likely,
		inServer: "give WebClient or App a logger that writes to stderr",
		pattern:  `^\[(DEBUG|INFO|WARN|ERROR)\]  (web-api|bolt|socket-mode|[\w-]+:[A-Z])\S* `,
	},
	{
		id: "bundler", name: "a bundler that runs before the server (tsup, webpack, Vite)", confidence: Certain,
		inServer: "start the built file, such as node dist/index.js, and build it beforehand",
		pattern: `^(CLI|ESM|CJS|DTS) (Building entry|Using|tsup v|Target:|Build start|⚡)|` +
			`^asset \S+ [\d.]+ \w+ \[|^webpack \d[\d.]* compiled|^\s*VITE v\d|^\s+➜  (Local|Network): `,
	},
	{
		id: "i18next", name: "i18next (npm)", confidence: Certain,
		inServer: "i18next.init({ debug: false }), or use a logger plugin that writes to stderr",
		pattern:  `^i18next: `,
	},
	{
		id: "langchain", name: "LangChain's verbose mode (npm)", confidence: Certain,
		inServer: "verbose: false in models, chains and agents, or a callback handler that writes to stderr",
		outside:  "take LANGCHAIN_VERBOSE out of this server's env",
		pattern:  `^\[(llm|chain|tool|retriever|agent)/\w+\] \[`,
	},
	{
		id: "electron-log", name: "electron-log (npm)", confidence: Likely,
		inServer: "log.transports.console.writeFn = ({ message }) => console.error(...message.data)",
		pattern:  `^\d\d:\d\d:\d\d\.\d{3} (\([^)]*\) +)?› `,
	},
	{
		id: "moleculer", name: "Moleculer's logger (npm)", confidence: Certain,
		inServer: "new ServiceBroker({ logger: false }), or a logger that writes to stderr",
		pattern:  `^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] ` + pinoLevels + ` +\S+/[A-Z$][\w-]*: `,
	},
	{
		id: "tracer", name: "tracer (npm)", confidence: Likely,
		inServer: "tracer.console({ transport: (data) => console.error(data.output) })",
		pattern:  `^\S+ <(log|trace|debug|info|warn|error|fatal)> \S+:\d+ \(`,
	},
	{
		id: "listr2", name: "listr2 (npm), or a print with a symbol", confidence: Generic, known: true,
		inServer: "new Listr(tasks, { renderer: 'silent' }); else console.error",
		pattern:  `^❯ \S`,
	},
	{
		id: "prisma", name: "Prisma's log (npm)", confidence: Certain,
		inServer: "new PrismaClient({ log: [] }), or log with emit: 'event' and write it to stderr",
		pattern:  `^prisma:(query|info|warn|error) `,
	},
	{
		id: "sequelize", name: "Sequelize's default logger", confidence: Certain,
		inServer: "new Sequelize(…, { logging: false })",
		pattern:  `^Executing \(default\):`,
	},
	{
		id: "mongoose", name: "Mongoose's debug log (npm)", confidence: Likely,
		inServer: "mongoose.set('debug', false)",
		pattern:  `^Mongoose: \w+\.\w+\(`,
	},
	{
		id: "typeorm", name: "TypeORM's log (npm)", confidence: Likely,
		inServer: "new DataSource({ …, logging: false })",
		pattern:  `^query( failed| is slow)?: (SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|START|COMMIT|PRAGMA)\b`,
	},
	{
		id: "sentry", name: "Sentry's debug log (npm)", confidence: Certain, inServer: "Sentry.init({ debug: false })",
		pattern: `^Sentry Logger \[`,
	},
}

// dotnetRules are those of libraries of .NET.
var dotnetRules = []rule{
	{
		id: "dotnet-console", name: ".NET console logger", confidence: Certain,
		inServer: dotnetStderr, outside: dotnetEnv,
		pattern: `^(trce|dbug|info|warn|fail|crit): [\w.]+\[\d+\]`,
		beside:  `^ {6}\S`,
	},
	{
		id: "serilog", name: "Serilog's console sink (.NET)", confidence: Certain,
		inServer: "WriteTo.Console(standardErrorFromLevel: LogEventLevel.Verbose)",
		pattern:  `^\[\d\d:\d\d:\d\d (VRB|DBG|INF|WRN|ERR|FTL)\] `,
	},
}

const javaLevels = `(TRACE|DEBUG|INFO|WARN|ERROR)`

// javaRules are those of libraries of Java.
var javaRules = []rule{
	{
		id: "spring-boot", name: "Spring Boot banner", confidence: Certain, inServer: springOff, outside: springEnv,
		pattern: `^ +\.   ____ +_ |:: Spring Boot ::`,
		beside:  `^[\s=\\/_|'().,:\-]*[\\/_|][\s=\\/_|'().,:\-]*(\w[\s=\\/_|'().,:\-]*)*$`,
	},
	{
		id: "spring-log", name: "Spring Boot's log", confidence: Certain, inServer: logbackStderr,
		outside: "add LOGGING_THRESHOLD_CONSOLE=OFF to this server's env",
		pattern: `^\d{4}-\d\d-\d\d[T ][\d:.]+(Z|[+-]\d\d:\d\d)? +` + javaLevels + ` \d+ --- \[`,
	},
	{
		id: "logback", name: "logback (Java)", confidence: Certain, inServer: logbackStderr,
		pattern: `^\d\d:\d\d:\d\d\.\d{3} \[[^\]]+\] ` + javaLevels + ` {1,2}\S+ - `,
	},
}

const phpFault = `^(PHP )?(Deprecated|Warning|Notice|Fatal error|Parse error):\s`

// phpRules are those of libraries of PHP.
var phpRules = []rule{
	{
		id: "php-errors", name: "PHP's display_errors", confidence: Certain, inServer: phpStderr, outside: phpFlag,
		known:   true,
		pattern: phpFault,
	},
	{
		id: "php-errors", name: "PHP's display_errors", confidence: Certain, inServer: phpStderr, outside: phpFlag,
		pattern: phpFault + `+.*( in \S+ on line \d+|Implicitly )|^PHP (Deprecated|Warning|Notice|Fatal error|Parse error): `,
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
		id: "monolog", name: "Monolog, pointed at stdout (PHP)", confidence: Certain,
		inServer: "new StreamHandler('php://stderr')",
		pattern:  `^\[\d{4}-\d\d-\d\d[T ][^\]]+\] [\w-]+\.(DEBUG|INFO|NOTICE|WARNING|ERROR|CRITICAL|ALERT|EMERGENCY): `,
	},
}

const rustLevels = `(TRACE|DEBUG|INFO|WARN|ERROR)`

// rustRules are those of libraries of Rust.
var rustRules = []rule{
	{
		id: "rust-tracing", name: "tracing_subscriber (Rust)", confidence: Likely,
		inServer: RustStderr, outside: rustEnv,
		// JavaScript's dates have three digits after the second, those of tracing six or more.
		sure:    `^\x1b\[2m`,
		pattern: `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}Z\s+` + rustLevels + `\b`,
		raw:     `^\x1b\[2m\d{4}-\d\d-\d\dT[\d:.]+Z\x1b\[0m`,
	},
	{
		id: "rust-tracing", name: "tracing_subscriber (Rust)", confidence: Likely, known: true,
		inServer: RustStderr, outside: rustEnv,
		sure:    `^\x1b\[2m`,
		pattern: `^\d{4}-\d\d-\d\dT[\d:.]+Z\s+` + rustLevels + `\b`,
	},
	{
		id: "tower-http", name: "tower-http's TraceLayer (Rust)", confidence: Likely,
		inServer: RustStderr, outside: rustEnv,
		pattern: `^(ERROR|DEBUG) (response failed|finished processing request|started processing request)`,
	},
	{
		id: "env-logger", name: "env_logger, pointed at stdout (Rust)", confidence: Likely, stderr: true,
		inServer: "env_logger::Builder::from_default_env().target(env_logger::Target::Stderr).init()",
		outside:  rustEnv,
		pattern:  `^\[\d{4}-\d\d-\d\dT[\d:.]+Z (TRACE|DEBUG|INFO |WARN |ERROR) [\w:]+\] `,
	},
}

// rubyRules are those of libraries of Ruby.
var rubyRules = []rule{
	{
		id: "ruby-logger", name: "Ruby's Logger", confidence: Certain, inServer: "Logger.new($stderr)",
		pattern: `^[DIWEFA], \[\d{4}-\d\d-\d\dT[\d:.]+ #\d+\] +\w+ -- `,
	},
}
