package culprit

// What loggers of Go have in common: their levels, and the time stamps of the log package and of ISO 8601.
const (
	goShort   = `(TRC|DBG|INF|WRN|ERR|FTL|PNC)`
	goFour    = `(TRAC|DEBU|INFO|WARN|ERRO|FATA|PANI)`
	goLevels  = `(trace|debug|info|warn|warning|error|fatal|panic)`
	goTime    = `\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(\.\d{6})?`
	goISOTime = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d{4})`
	echoArt   = `^[\s_/\\O>]+( v\d[\d.]+)?$`
)

// goRules are those of libraries of Go, frameworks before the loggers that they use.
var goRules = []rule{
	{
		id: "gin", name: "Gin's log (Go)", confidence: Certain,
		inServer: "gin.DefaultWriter = os.Stderr; gin.SetMode(gin.ReleaseMode)",
		outside:  "add GIN_MODE=release to this server's env",
		pattern:  `^\[GIN(-debug)?\]`,
	},
	{
		id: "echo", name: "Echo (Go)", confidence: Certain,
		inServer: "e.HideBanner, e.HidePort = true, true; e.Logger.SetOutput(os.Stderr); " +
			"middleware.LoggerConfig{Output: os.Stderr}; in v5 e.Logger = slog.New(… os.Stderr …)",
		pattern: `^⇨ https? server started on |^High performance, .*Go web framework$|^https://echo\.labstack\.com|` +
			`^\{"time":"[^"]*","(id":"[^"]*","remote_ip|level":"\w+","prefix)":"|` +
			`^\{"time":"[^"]*","level":"INFO","msg":"(Echo \(v|http\(s\) server started")`,
		beside: echoArt,
	},
	{
		id: "fiber", name: "Fiber (Go)", confidence: Certain,
		inServer: "fiber.Config{DisableStartupMessage: true} (in v3 of ListenConfig); logger.Config{Output: os.Stderr}",
		pattern: `^ *│ +Fiber v\d|^\d\d:\d\d:\d\d \| +\d{3} +\| +\S+ \| \S+ \| |^INFO Server started on: |` +
			`/_/   /_/_\.___/\\___/_/ `,
		beside: `^ *[┌│└]|^[\s_/\\()]+$|^-{50}$|^INFO (Total|Prefork|PID)\b`,
	},
	{
		id: "hlog", name: "the log of Fiber, Hertz or Kitex (Go)", confidence: Certain,
		inServer: "log.SetOutput(os.Stderr); in Hertz hlog, in Kitex klog",
		pattern:  `^` + goTime + ` \S+\.go:\d+: \[(Trace|Debug|Info|Notice|Warn|Error|Fatal)\] `,
	},
	{
		id: "iris", name: "Iris (Go)", confidence: Certain,
		inServer: "app.Listen(addr, iris.WithoutStartupLog); app.Logger().SetOutput(os.Stderr)",
		pattern:  `^Iris Version: `,
		beside:   `^Now listening on: |^Application started\. `,
	},
	{
		id: "chi", name: "chi's middleware.Logger (Go)", confidence: Certain,
		inServer: `middleware.RequestLogger(&middleware.DefaultLogFormatter{Logger: log.New(os.Stderr, "", 0)})`,
		pattern:  `^` + goTime + ` (\[\S+\] )?"[A-Z]+ \S+ HTTP/[\d.]+" from `,
	},
	{
		id: "gorilla", name: "an access log, as gorilla/handlers writes (Go)", confidence: Likely, known: true,
		inServer: "handlers.LoggingHandler(os.Stderr, …)",
		pattern:  `^\S+ - \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "`,
	},
	{
		id: "negroni", name: "Negroni's Logger (Go)", confidence: Certain,
		inServer: "negroni.New with a negroni.Logger whose ALogger writes to os.Stderr, instead of negroni.Classic()",
		pattern:  `^\[negroni\] `,
	},
	{
		id: "martini", name: "Martini's or Macaron's Logger (Go)", confidence: Certain,
		inServer: `m.Map(log.New(os.Stderr, "[martini] ", 0)); macaron.NewWithLogger(os.Stderr)`,
		pattern:  `^\[(martini|Macaron)\] `,
	},
	{
		id: "otel-stdout", name: "OpenTelemetry's exporter to stdout (Go)", confidence: Certain,
		inServer: "stdouttrace.New(stdouttrace.WithWriter(os.Stderr)); so for stdoutmetric and stdoutlog",
		pattern: `(?s)^\{\s*"Name":\s*"[^"]*",\s*"SpanContext":|^\{\s*"Resource":\s*\[\s*\{\s*"Key":|` +
			`^\{\s*"Timestamp":\s*"[^"]*",\s*"ObservedTimestamp":`,
	},
	{
		id: "gorm", name: "GORM's default logger (Go)", confidence: Certain,
		inServer: "gorm.Config{Logger: logger.Default.LogMode(logger.Silent)}, or logger.New(log.New(os.Stderr, …), …)",
		pattern:  `^` + goTime + ` \S+\.go:\d+.*|^\[\d+\.\d+ms\] \[rows:`,
		near:     `\[rows:|SLOW SQL|record not found|^\[(info|warn|error)\] `,
	},
	{
		id: "xorm", name: "XORM's logger (Go)", confidence: Certain,
		inServer: "engine.SetLogger(log.NewSimpleLogger(os.Stderr))",
		pattern:  `^\[xorm\] \[`,
	},
	{
		id: "go-slog", name: "slog (Go)", confidence: Likely,
		inServer: "slog.New(slog.NewJSONHandler(os.Stderr, nil))",
		pattern:  `^\{"time":"[^"]*","level":"(DEBUG|INFO|WARN|ERROR)[^"]*",.*"msg":`,
	},
	{
		id: "go-slog", name: "slog or logrus (Go)", confidence: Likely,
		inServer: "slog.New(slog.NewTextHandler(os.Stderr, nil)); logrus.SetOutput(os.Stderr)",
		pattern:  `^time="?\d{4}-\d\d-\d\dT[^ ]* level=\w+ (source=\S+ )?msg=`,
	},
	{
		id: "logrus", name: "logrus (Go)", confidence: Certain, inServer: "logrus.SetOutput(os.Stderr)",
		pattern: `^` + goFour + `\[(\d{4}|\d{4}-\d\d-\d\dT\S+)\] `,
	},
	{
		id: "logrus", name: "logrus (Go)", confidence: Likely, known: true, inServer: "logrus.SetOutput(os.Stderr)",
		pattern: `^\{.*"level":"` + goLevels + `","msg":".*","time":"[^"]*"[,}]`,
	},
	{
		id: "logrus", name: "logrus with a formatter of its own (Go)", confidence: Likely, known: true,
		inServer: "logrus.SetOutput(os.Stderr)",
		pattern: `^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d\.\d{3} \[` + goFour + `\] |` +
			`^\[\d{4}-\d\d-\d\dT\S+\] +(DEBUG|INFO|WARN|ERROR|FATAL|PANIC) `,
	},
	{
		id: "go-zap", name: "zap (Go)", confidence: Likely,
		inServer: `zap.Config{OutputPaths: []string{"stderr"}}`,
		pattern:  `^\{"level":"\w+","(ts|\w+":"[^"]*","caller)":|^(` + goISOTime + `|\d\.\d+e\+09)\t\w+\t`,
	},
	{
		id: "zerolog", name: "zerolog, or a logger that writes as it does (Go)", confidence: Likely, known: true,
		inServer: "zerolog.New(os.Stderr)",
		pattern:  `^\{("time":"[^"]*",)?"level":"` + goLevels + `",.*"message":`,
	},
	{
		id: "zerolog", name: "zerolog's ConsoleWriter (Go)", confidence: Likely,
		inServer: "zerolog.ConsoleWriter{Out: os.Stderr}",
		pattern:  `^(\d\d?:\d\d[AP]M|<nil>|\d{4}-\d\d-\d\dT\S+) ` + goShort + ` `,
	},
	{
		id: "tint", name: "tint, a handler of slog (Go)", confidence: Likely,
		inServer: "tint.NewHandler(os.Stderr, nil)",
		pattern:  `^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d\.\d{3} (DBG|INF|WRN|ERR)(\+\d+)? `,
	},
	{
		id: "hclog", name: "hclog (Go)", confidence: Likely,
		inServer: "hclog.LoggerOptions{Output: os.Stderr}, which is its default",
		pattern:  `^` + goISOTime + ` \[(TRACE|DEBUG|INFO|WARN|ERROR)\] {1,2}\S|^\{"@level":"\w+","@message":`,
	},
	{
		id: "log15", name: "log15 (Go)", confidence: Certain, inServer: "log15.Root().SetHandler(log15.StderrHandler)",
		pattern: `^t=\d{4}-\S+ lvl=\w+ msg=|^(DBUG|INFO|WARN|EROR|CRIT)\[\d\d-\d\d\|\d\d:\d\d:\d\d\] `,
	},
	{
		id: "klog", name: "klog or glog (Go)", confidence: Certain, inServer: "klog.LogToStderr(true)",
		pattern: `^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \S+\.go:\d+\] `,
	},
	{
		id: "go-zero", name: "go-zero's logx (Go)", confidence: Certain,
		inServer: "logx.SetWriter(logx.NewWriter(os.Stderr))",
		pattern:  `^\{"@timestamp":.*"(content|level)":|^` + goISOTime + `\t \w+ ?\t`,
	},
	{
		id: "kratos", name: "Kratos's log (Go)", confidence: Likely, known: true,
		inServer: "log.NewStdLogger(os.Stderr)",
		pattern:  `^(DEBUG|INFO|WARN|ERROR|FATAL) (\w[\w.]*=\S* )*msg=`,
	},
	{
		id: "go-kit", name: "go-kit's log, or another that writes logfmt (Go)", confidence: Likely, known: true,
		inServer: "log.NewLogfmtLogger(os.Stderr)",
		pattern:  `^(ts|level|caller)=\S+ (.* )?(msg|level|err)=`,
	},
	{
		id: "golog", name: "golog (Go)", confidence: Certain, inServer: "golog.SetOutput(os.Stderr)",
		pattern: `^\[(DBUG|INFO|WARN|ERRO|FTAL)\] \d{4}/\d\d/\d\d \d\d:\d\d `,
	},
	{
		id: "seelog", name: "seelog (Go)", confidence: Likely,
		inServer: "seelog.ReplaceLogger with a logger of seelog.LoggerFromWriterWithMinLevel(os.Stderr, …)",
		pattern:  `^\d{19} \[(Trace|Debug|Info|Warn|Error|Critical)\] `,
	},
	{
		id: "go-logging", name: "go-logging (Go)", confidence: Likely,
		inServer: `logging.NewLogBackend(os.Stderr, "", 0)`,
		pattern:  `^\d\d:\d\d:\d\d\.\d{3} \S+ ▶ `,
	},
	{
		id: "apex", name: "apex/log (Go)", confidence: Likely, inServer: "log.SetHandler(text.New(os.Stderr))",
		pattern: `^ *(DEBUG| INFO| WARN|ERROR|FATAL)\[\d{4}\] |^\{"fields":\{.*\},"level":"\w+","timestamp":`,
	},
	{
		id: "apex", name: "apex/log or caarlos0/log (Go)", confidence: Likely, known: true,
		inServer: "apex: log.SetHandler(cli.New(os.Stderr)); caarlos0: log.Log = log.New(os.Stderr)",
		pattern:  `^ {2,}[•⨯] \S`,
	},
	{
		id: "pterm", name: "PTerm (Go)", confidence: Certain,
		inServer: "pterm.SetDefaultOutput(os.Stderr); pterm.DefaultLogger.WithWriter(os.Stderr)",
		raw: `^\x1b\[30;\d+m +[A-Z]+ +\x1b\[0m |^\x1b\[\d+m {3,}\x1b\[0m$|^\x1b\[90m\d{4}-\d\d-\d\d ` +
			`\d\d:\d\d:\d\d\x1b\[0m \x1b\[[\d;]+m(TRACE|DEBUG|INFO|WARN|ERROR|FATAL) *\x1b\[0m `,
	},
	{
		id: "progressbar", name: "a progress bar (Go)", confidence: Likely, known: true,
		inServer: "progressbar.OptionSetWriter(os.Stderr)",
		pattern:  `^[\r\s]*\d+% \|`,
	},
	{
		id: "spew", name: "spew.Dump (Go)", confidence: Likely, known: true, inServer: "spew.Fdump(os.Stderr, …)",
		pattern: `^\(\S.*\) (\(len=\d+.*\) )?(\{|"|-?\d|<nil>|true$|false$)`,
	},
	{
		id: "pp", name: "pp.Println (Go)", confidence: Likely, inServer: "pp.SetDefaultOutput(os.Stderr)",
		raw: `^\x1b\[32m[^\x1b]+\x1b\[0m\{$`,
	},
	{
		id: "charm-log", name: "charm's log, or slog's default logger (Go)", confidence: Likely, known: true,
		inServer: "log.SetOutput(os.Stderr)",
		pattern:  `^` + goTime + ` (DEBU|DEBUG|INFO|WARN|ERRO|ERROR|FATA) `,
	},
	{
		id: "go-log", name: "the log package, pointed at stdout (Go)", confidence: Likely, stderr: true,
		inServer: "log.SetOutput(os.Stderr), or log.New(os.Stderr, …)",
		pattern:  `^((\[[^\]]+\]|\w[\w.-]*( ?:)?) ?)?` + goTime + ` `,
	},
	{
		id: "charm-log", name: "charm's log, or a print as it writes (Go)", confidence: Generic, known: true,
		inServer: "log.SetOutput(os.Stderr); fmt.Fprintln(os.Stderr, …)",
		pattern:  `^(DEBU|INFO|WARN|ERRO|FATA) \S`,
	},
}
