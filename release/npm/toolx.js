#!/usr/bin/env node
"use strict";
// Runs the toolx of this platform's package with the same arguments, streams, signals and exit code.

const { spawn } = require("node:child_process");

const name = `@toolx/${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "toolx.exe" : "toolx";

let path;
try {
  path = require.resolve(`${name}/bin/${program}`);
} catch {
  console.error(`error: the package ${name} is not installed, so there is no toolx for this platform
hint: install without --omit=optional and --no-optional; toolx is built for Linux, macOS and Windows, x64 and arm64`);
  process.exit(1);
}

const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });

// A terminal sends its signals to every process in front of it, so toolx has them already, and a second one would kill
// it. Elsewhere they reach this process alone.
const terminal = [0, 1, 2].some((fd) => require("node:tty").isatty(fd));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (signal === "SIGTERM" || !terminal) child.kill(signal);
  });
}

child.on("error", (err) => {
  console.error(`error: ${path} cannot be started: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
