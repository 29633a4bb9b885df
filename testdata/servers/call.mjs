// Calls the tools of a server through the official TypeScript client, so that
// toolx's results can be compared with them.
//
//   node call.mjs COMMAND [ARGUMENT…] < calls.json
//   node call.mjs URL < calls.json
//
// stdin is a JSON array of {tool, arguments}; the calls run one after the other
// in one session. stdout gets a JSON line with the names of all tools, then one
// line for each call: {tool, result} or {tool, error: {code, message}}.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { text } from "node:stream/consumers";

const print = (value) => process.stdout.write(JSON.stringify(value) + "\n");

async function listTools(client) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools({ cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

// The plain request rather than callTool, which would refuse some calls on the
// client's side: the server's own answer is what counts. A tool that runs as a
// task only is waited for.
async function call(client, { tool, arguments: args }, asTask) {
  try {
    const params = { name: tool, arguments: args };
    if (asTask) {
      for await (const message of client.experimental.tasks.callToolStream(params, CallToolResultSchema)) {
        if (message.type === "result") return { tool, result: message.result };
        if (message.type === "error") throw message.error;
      }
    }
    return { tool, result: await client.request({ method: "tools/call", params }, CallToolResultSchema) };
  } catch (error) {
    return { tool, error: { code: error.code, message: error.message } };
  }
}

const [command, ...args] = process.argv.slice(2);
const calls = JSON.parse(await text(process.stdin));
const client = new Client({ name: "comparison", version: "1.0.0" });
const transport = /^https?:/.test(command)
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args, env: process.env, stderr: "ignore" });
await client.connect(transport);
const tools = await listTools(client);
print({ tools: tools.map((tool) => tool.name) });
const tasks = tools.filter((tool) => tool.execution?.taskSupport === "required").map((tool) => tool.name);
for (const one of calls) {
  print(await call(client, one, tasks.includes(one.tool)));
}
await transport.terminateSession?.();
await client.close();
