// The server of docs/tutorial.md, fixed.
import { createInterface } from "node:readline";

console.error("Notes server is ready");

const revisions = ["2025-11-25", "2025-06-18"];

const notes = ["buy milk", "call Ada"];

const tools = {
  count: {
    description: "Counts the notes that hold a word.",
    inputSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
    run: ({ word }) => `${notes.filter((note) => note.includes(word)).length} notes`,
  },
  longest: {
    description: "Returns the longest note.",
    inputSchema: { type: "object", properties: {} },
    run: () => notes.toSorted((a, b) => b.length - a.length)[0],
  },
};

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

const read = (line) => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const request = read(line);
  if (!request) return send({ id: null, error: { code: -32700, message: "Parse error" } });
  const { id, method, params } = request;
  if (method === "initialize") {
    const protocolVersion = revisions.includes(params.protocolVersion) ? params.protocolVersion : revisions[0];
    send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1.0.0" } } });
  } else if (method === "tools/list") {
    const list = Object.entries(tools).map(([name, { description, inputSchema }]) => ({ name, description, inputSchema }));
    send({ id, result: { tools: list } });
  } else if (method === "tools/call") {
    const tool = tools[params.name];
    if (!tool) return send({ id, error: { code: -32602, message: `Unknown tool: ${params.name}` } });
    send({ id, result: { content: [{ type: "text", text: await tool.run(params.arguments) }] } });
  } else if (method === "ping") {
    send({ id, result: {} });
  } else if (id !== undefined) {
    send({ id, error: { code: -32601, message: `Method not found: ${method}` } });
  }
});
