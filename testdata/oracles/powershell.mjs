// Parses PowerShell scripts with the grammar that editors use for it.
//
//   node powershell.mjs < scripts.json
//
// stdin is a JSON array of scripts; stdout gets a JSON array of {errors, commands, functions}: the lines (from 1) that
// the grammar cannot make sense of, the commands that are called, the functions and filters that are defined.

import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Language, Parser } from "web-tree-sitter";

await Parser.init();
const grammar = new URL("node_modules/tree-sitter-powershell/tree-sitter-powershell.wasm", import.meta.url);
const parser = new Parser();
parser.setLanguage(await Language.load(fileURLToPath(grammar)));

function look(script) {
  const found = { errors: [], commands: [], functions: [] };
  const visit = (node) => {
    if (node.isError || node.isMissing) found.errors.push(node.startPosition.row + 1);
    if (node.type === "command_name") found.commands.push(node.text);
    if (node.type === "function_name") found.functions.push(node.text);
    for (const child of node.children) visit(child);
  };
  visit(parser.parse(script).rootNode);
  return found;
}

process.stdout.write(JSON.stringify(JSON.parse(await text(process.stdin)).map(look)));
