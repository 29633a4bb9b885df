// A server whose one tool answers with the arguments exactly as they arrived.
import { createInterface } from "node:readline";

const inputSchema = {
  type: "object",
  properties: {
    code: { type: "string" },
    big: { type: "integer" },
    flag: { type: "boolean" },
    list: { type: "array", items: { type: "string" } },
  },
};
const serverInfo = { name: "typed", version: "1.0.0" };
const send = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\n");

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    send(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo });
  } else if (method === "tools/list") {
    send(id, { tools: [{ name: "take", description: "Answers with its arguments.", inputSchema }] });
  } else if (method === "tools/call") {
    const text = line.match(/"arguments":(\{[^}]*\})/)?.[1] ?? line; // JSON.parse would round large numbers
    send(id, { content: [{ type: "text", text }] });
  } else if (id !== undefined) {
    send(id, {});
  }
});
