// Sends requests to a server through the official TypeScript client, version 1, with all capabilities of a client.
//
//   node session.mjs COMMAND [ARGUMENT…] < requests.json
//   node session.mjs URL < requests.json
//
// stdin is a JSON array of requests; one with cancel is cancelled at its first progress. A URL that ends with /sse is
// of HTTP with SSE. stdout gets a JSON line for each response, then one with the notifications and
// requests of the server, sorted.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, ResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { text } from "node:stream/consumers";

const print = (value) => process.stdout.write(JSON.stringify(value) + "\n");

const [command, ...args] = process.argv.slice(2);
const requests = JSON.parse(await text(process.stdin));
const client = new Client({ name: "session", version: "1.0.0" }, {
  capabilities: { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } },
});
client.setRequestHandler(CreateMessageRequestSchema, () => (
  { model: "none", role: "assistant", content: { type: "text", text: "certainly" } }
));
client.setRequestHandler(ElicitRequestSchema, () => ({ action: "decline" }));
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///root", name: "root" }] }));
let transport;
if (!/^https?:/.test(command)) {
  transport = new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" });
} else if (command.endsWith("/sse")) {
  transport = new SSEClientTransport(new URL(command));
} else {
  transport = new StreamableHTTPClientTransport(new URL(command));
}
await client.connect(transport);
// Here rather than in handlers, which miss progress that comes together with the response.
const came = [];
const receive = transport.onmessage;
transport.onmessage = (message, extra) => {
  if (message.method) came.push(JSON.stringify(message));
  receive(message, extra);
};
print({ server: client.getServerVersion(), capabilities: client.getServerCapabilities() });
for (const { cancel, ...request } of requests) {
  const controller = new AbortController();
  const onprogress = () => cancel && controller.abort("enough");
  try {
    print({ result: await client.request(request, ResultSchema, { onprogress, signal: controller.signal }) });
  } catch (error) {
    print({ error: { code: error.code, message: error.message, data: error.data } });
  }
}
print({ came: came.sort() });
await client.close();
