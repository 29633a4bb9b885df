// A server for tests that speaks as much of Ollama's API as a client of /api/chat
// needs, with a real model behind it (model.mjs):
//
//   node server.mjs
//
// prints its address, to be used as OLLAMA_HOST, as the first line on stdout, and
// serves until its stdin is closed or it gets SIGTERM. Options of a request, the size
// of the context for one, change nothing.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { TooLong, load } from './model.mjs';

const NAME = 'needle:latest';
const VERSION = '0.17.4'; // of the Ollama whose answers these are like
const DETAILS = { parent_model: '', format: 'onnx', family: 'needle', families: ['needle'], parameter_size: '26M', quantization_level: 'F16' };
const STARTED = new Date().toISOString();

class Refusal extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

class Gone extends Error {}

const model = await load();
const routes = {
  'GET /': (request, response) => response.end('Ollama is running'),
  'HEAD /': (request, response) => response.end(),
  'GET /api/version': (request, response) => send(response, { version: VERSION }),
  'GET /api/tags': (request, response) => send(response, { models: [{ name: NAME, model: NAME, modified_at: STARTED, size: 70736265, digest: '', details: DETAILS }] }),
  'POST /api/show': show,
  'POST /api/chat': chat,
};

const server = createServer(async (request, response) => {
  try {
    const route = routes[`${request.method} ${request.url.split('?')[0]}`];
    if (!route) throw new Refusal(404, '404 page not found');
    await route(request, response);
  } catch (error) {
    if (error instanceof Gone) return;
    const status = error.status ?? (error instanceof TooLong ? 400 : 500);
    send(response, { error: error.message }, status);
  }
});

server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
const end = () => process.exit();
process.stdin.resume().on('end', end).on('close', end);
process.on('SIGTERM', end);

function send(response, body, status = 200) {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  let body;
  try {
    body = JSON.parse(Buffer.concat(chunks));
  } catch (error) {
    throw new Refusal(400, error.message);
  }
  if (!body.model) throw new Refusal(400, 'model is required');
  if (body.model !== NAME && `${body.model}:latest` !== NAME) throw new Refusal(404, `model '${body.model}' not found`);
  return body;
}

async function show(request, response) {
  await read(request);
  send(response, { details: DETAILS, model_info: { 'general.architecture': 'needle', 'needle.context_length': 1024 }, capabilities: ['completion', 'tools'], modified_at: STARTED });
}

async function chat(request, response) {
  const began = process.hrtime.bigint();
  const { model: name, messages = [], tools, stream = true } = await read(request);
  const { message, read: prompt, written } = await reply(messages, tools ?? [], response);
  const head = () => ({ model: name, created_at: new Date().toISOString() });
  const last = {
    done: true,
    done_reason: messages.length ? 'stop' : 'load',
    total_duration: Number(process.hrtime.bigint() - began), // nanoseconds
    load_duration: 0,
    prompt_eval_count: prompt,
    prompt_eval_duration: 0,
    eval_count: written,
    eval_duration: 0,
  };
  if (!stream) return send(response, { ...head(), message, ...last });

  response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
  for (const piece of pieces(message)) response.write(`${JSON.stringify({ ...head(), message: piece, done: false })}\n`);
  response.end(`${JSON.stringify({ ...head(), message: { role: 'assistant', content: '' }, ...last })}\n`);
}

// reply is the next message of a chat: what the model says to the last question, or,
// once tools have answered, a sentence that is not the model's, since this model does
// nothing but call tools. The sentence quotes what the tools answered, so that a test
// sees what of them has arrived.
async function reply(messages, tools, response) {
  const last = messages.at(-1);
  if (!last) return { message: { role: 'assistant', content: '' }, read: 0, written: 0 };
  if (last.role === 'tool') return { message: { role: 'assistant', content: quote(messages) }, read: 0, written: 0 };
  if (last.role !== 'user') throw new Refusal(400, `the last message is of role '${last.role}': the model answers a user or a tool`);

  const onToken = () => {
    if (response.destroyed) throw new Gone();
  };
  const { text, read, written } = await model.answer(last.content, tools, onToken);
  return { message: { role: 'assistant', ...callsIn(text) }, read, written };
}

function quote(messages) {
  const results = messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1);
  return results.map(({ tool_name: tool = 'The tool', content }) => `${tool} answered: ${content}`).join('\n');
}

// callsIn is the model's text as Ollama puts it into a message: tool calls where the
// text is such, and content where it is anything else.
function callsIn(text) {
  if (text === '[]' || text === '') return { content: 'No tool can do that.' };
  let calls;
  try {
    calls = JSON.parse(text);
  } catch {
    return { content: text };
  }
  const good = (call) => typeof call?.name === 'string' && call.arguments !== null && typeof call.arguments === 'object' && !Array.isArray(call.arguments);
  if (!Array.isArray(calls) || !calls.every(good)) return { content: text };
  return {
    content: '',
    tool_calls: calls.map((call, index) => ({ id: `call_${randomBytes(4).toString('hex')}`, function: { index, name: call.name, arguments: call.arguments } })),
  };
}

// pieces are a message as it streams: calls whole, text word by word.
function pieces({ role, content, tool_calls: calls }) {
  if (calls) return [{ role, content, tool_calls: calls }];
  return content.split(/(?<=\s)(?=\S)/).map((word) => ({ role, content: word }));
}
