package cli

// LogLevels are the levels of log messages in MCP.
var LogLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
