// A server with five bugs, which docs/tutorial.md fixes.
import { createInterface } from "node:readline";

console.log("Notes server is ready");

const notes = ["buy milk", "call Ada"];

const tools = {
  count: {
    description: "Counts the notes that hold a word.",
    inputSchema: { type: "object", properties: { word: { type: "string" } }, required: ["words"] },
    run: ({ word = "" }) => `${notes.filter((note) => note.includes(word)).length} notes`,
  },
  longest: {
    description: "Returns the longest note.",
    inputSchema: { type: "object", properties: {} },
    run: () => new Promise((resolve) => notes.toSorted((a, b) => b.length - a.length)[0]),
  },
};

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1.0.0" } } });
  } else if (method === "tools/list") {
    const list = Object.entries(tools).map(([name, { description, inputSchema }]) => ({ name, description, inputSchema }));
    send({ id, result: { tools: list } });
  } else if (method === "tools/call") {
    const text = await tools[params.name].run(params.arguments);
    send({ id, result: { content: [{ type: "text", text }] } });
  } else if (id !== undefined) {
    send({ id, error: { code: -32601, message: `Method not found: ${method}` } });
  }
});
