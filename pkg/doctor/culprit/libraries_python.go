package culprit

const pythonLevels = `(DEBUG|INFO|WARNING|ERROR|CRITICAL)`

// pythonRules are those of libraries of Python.
var pythonRules = []rule{
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
		id: "sqlalchemy", name: "SQLAlchemy's echo (Python)", confidence: Certain,
		inServer: "create_engine(…, echo=False), or " + pythonStderr,
		pattern:  `\bINFO:? sqlalchemy\.engine\.`,
	},
	{
		id: "flask", name: "Flask's banner (Python)", confidence: Certain,
		inServer: "flask.cli.show_server_banner = lambda *args: None, or serve HTTP by another process",
		pattern:  `^ \* (Serving Flask app|Debug mode: |Environment: )`,
	},
	{
		id: "django", name: "Django's runserver (Python)", confidence: Certain,
		inServer: "serve HTTP by another process: stdio is the MCP server's alone",
		pattern:  `^(Watching for file changes with StatReloader|Performing system checks\.\.\.|System check identified )`,
	},
	{
		id: "tornado", name: "Tornado's log (Python)", confidence: Certain, inServer: pythonStderr,
		pattern: `^\[[DIWEC] \d{6} \d\d:\d\d:\d\d \S+:\d+\] `,
	},
	{
		id: "twisted", name: "Twisted's log (Python)", confidence: Certain, inServer: "log.startLogging(sys.stderr)",
		pattern: `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d{4} \[[^\]]*\] `,
	},
	{
		id: "cherrypy", name: "CherryPy's log (Python)", confidence: Likely, known: true,
		inServer: "cherrypy.config.update({'log.screen': False})",
		pattern:  `^\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d\] `,
	},
	{
		id: "celery", name: "Celery's log (Python)", confidence: Certain, stderr: true, inServer: pythonStderr,
		pattern: `^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}: ` + pythonLevels + `/\w+`,
	},
	{
		id: "gunicorn", name: "Gunicorn or Hypercorn (Python)", confidence: Likely, stderr: true,
		inServer: "errorlog = '-', which is stderr, and no accesslog; serve HTTP by another process",
		pattern:  `^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}\] \[\d+\] \[` + pythonLevels + `\] `,
	},
	{
		id: "coloredlogs", name: "coloredlogs (Python)", confidence: Likely, stderr: true,
		inServer: "coloredlogs.install(stream=sys.stderr), which is its default",
		pattern:  `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+ \S+\[\d+\] ` + pythonLevels + ` `,
	},
	{
		id: "oslo-log", name: "oslo.log (Python)", confidence: Likely, stderr: true, inServer: pythonStderr,
		pattern: `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,][\d.]+ \d+ ` + pythonLevels + ` \S+ \[`,
	},
	{
		id: "logbook", name: "Logbook (Python)", confidence: Likely, known: true,
		inServer: "logbook.StreamHandler(sys.stderr)",
		pattern:  `^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}\] ` + pythonLevels + `: `,
	},
	{
		id: "absl", name: "Abseil's logging (Python)", confidence: Certain, stderr: true,
		inServer: "absl.logging writes to stderr by itself: do not give its handler sys.stdout",
		pattern:  `^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \S+\.py:\d+\] `,
	},
	{
		id: "python-rich", name: "rich's Console (Python)", confidence: Likely, known: true,
		inServer: "Console(stderr=True)",
		pattern:  `^\[\d\d:\d\d:\d\d\] .* {2,}\S+\.py:\d+$|^[┏┡└]━*─*[┳┯╇┴]`,
	},
	{
		id: "tqdm", name: "tqdm (Python)", confidence: Certain, stderr: true,
		inServer: "tqdm(file=sys.stderr), its default",
		pattern:  `^[\r\s]*(\S.*: )?\d+%\|.*\| [\d.]+\w?/[\d.]+\w? \[`,
	},
	{
		id: "loguru", name: "loguru, with serialize (Python)", confidence: Certain, stderr: true,
		inServer: "logger.remove(); logger.add(sys.stderr, serialize=True)",
		pattern:  `^\{"text": "\d{4}-.* \| [A-Z]+ +\| `,
	},
	{
		id: "structlog", name: "structlog (Python)", confidence: Likely, known: true,
		inServer: "structlog.configure(logger_factory=structlog.PrintLoggerFactory(file=sys.stderr))",
		pattern:  `^\{.*"event": ".*"(level|timestamp)": |^\{.*"(level|timestamp)": .*"event": "`,
	},
	{
		id: "json-logger", name: "logging with a formatter for JSON, such as python-json-logger", confidence: Likely,
		known: true, inServer: "logging.StreamHandler(sys.stderr)",
		pattern: `^\{.*"(asctime|levelname)": "`,
	},
	{
		id: "eliot", name: "Eliot (Python)", confidence: Certain, inServer: "to_file(sys.stderr)",
		pattern: `^\{.*"task_uuid": "`,
	},
	{
		id: "python-rich", name: "rich's logging handler (Python)", confidence: Likely,
		inServer: "RichHandler(console=Console(stderr=True))",
		pattern:  `^\[\d\d/\d\d/\d\d \d\d:\d\d:\d\d\] ` + pythonLevels,
	},
	{
		id: "python-logging", name: "Python logging, pointed at stdout", confidence: Certain, stderr: true,
		inServer: pythonStderr,
		pattern:  `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - .* - ` + pythonLevels + `|^` + pythonLevels + `:[A-Za-z_][\w.]*:\S`,
	},
	{
		id: "python-logging", name: "Python logging, pointed at stdout", confidence: Likely, stderr: true, known: true,
		inServer: pythonStderr,
		pattern:  `^\[?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\]?\s`,
	},
	{
		id: "structlog", name: "structlog (Python)", confidence: Certain,
		inServer: "structlog.configure(logger_factory=structlog.PrintLoggerFactory(file=sys.stderr))",
		pattern:  `^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z? \[(debug    |info     |warning  |error    |critical )\] `,
	},
	{
		id: "loguru", name: "loguru, pointed at stdout (Python)", confidence: Certain, stderr: true,
		inServer: "logger.remove(); logger.add(sys.stderr)",
		pattern:  `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \| [A-Z]+ +\| `,
	},
	{
		id: "uvicorn", name: "uvicorn's access log (Python)", confidence: Certain,
		inServer: "uvicorn.run(…, access_log=False)",
		pattern:  `^INFO:\s+\d+\.\d+\.\d+\.\d+:\d+ - "[A-Z]+ `,
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
}
