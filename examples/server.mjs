// A small MCP server on stdio with one tool, for trying toolx: node examples/server.mjs
import { createInterface } from "node:readline";

const echo = {
  name: "echo",
  description: "Returns a message.",
  inputSchema: {
    type: "object",
    properties: { message: { type: "string", description: "What to say." } },
    required: ["message"],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
};

const revisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: revisions.includes(protocolVersion) ? protocolVersion : revisions[0],
    capabilities: { tools: {} },
    serverInfo: { name: "example", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [echo] }),
  "tools/call": ({ name, arguments: given }) => {
    if (name !== echo.name) throw { code: -32602, message: `Unknown tool: ${name}` };
    return { content: [{ type: "text", text: `Echo: ${given.message}` }] };
  },
};

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

createInterface({ input: process.stdin }).on("line", (line) => {
  let request;
  try {
    request = JSON.parse(line);
  } catch {
    return send({ id: null, error: { code: -32700, message: "Parse error" } });
  }
  if (request.id === undefined) return; // a notification
  const method = methods[request.method];
  if (!method) return send({ id: request.id, error: { code: -32601, message: `Method not found: ${request.method}` } });
  try {
    send({ id: request.id, result: method(request.params ?? {}) });
  } catch (error) {
    send({ id: request.id, error: { code: error.code ?? -32603, message: error.message } });
  }
});
