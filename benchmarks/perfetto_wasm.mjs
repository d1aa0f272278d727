// Loads a trace into Perfetto's trace processor as ui.perfetto.dev does, then asks one question of it.
//
//     node perfetto_wasm.mjs UI TRACE QUERY LEAST
//
// UI is the folder of a build of Perfetto's UI: engine_bundle.js, and trace_processor.wasm beside it. QUERY answers with
// one whole number; one below LEAST is an error. Requests and answers are messages of Perfetto's
// protos/perfetto/trace_processor/trace_processor.proto, one behind the other (TraceProcessorRpcStream).

import { webcrypto as crypto } from "node:crypto";
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import process from "node:process";
import vm from "node:vm";

const PORTION_BYTES = 32 * 1024 * 1024; // TRACE_SLICE_SIZE of the UI

// Methods of TraceProcessorRpc: number, field of the argument, field of the result, and the field of an error in that.
const APPEND_TRACE_DATA = { method: 1, argument: 101, result: 201, error: 2 };
const FINALIZE_TRACE_DATA = { method: 2, argument: 0, result: 212, error: 1 };
const QUERY_STREAMING = { method: 3, argument: 103, result: 203, error: 2 };
const NOTHING = new Uint8Array(0);

/** Starts the engine of the UI. Returns a function that sends it bytes; what it replies goes to `onReply`. */
async function startEngine(ui, onReply) {
  class XMLHttpRequest {
    open(_method, url) {
      this.url = url;
    }
    send() {
      this.response = readFileSync(join(ui, this.url));
    }
  }
  // The bundle is made for a worker of a browser, and refuses to run where it sees Node: it gets a global object of its
  // own, with what it uses of a worker's. Its arrays have to be ours, as it asks what it is sent for its class.
  const self = { location: { href: "" } };
  const quiet = { log() {}, warn() {}, error() {} };
  const worker = { self, WorkerGlobalScope: Object, XMLHttpRequest, console: quiet, performance, crypto };
  const bundle = readFileSync(join(ui, "engine_bundle.js"), "utf8");
  vm.runInNewContext(bundle, { ...worker, Uint8Array, TextDecoder });
  const port = { postMessage: onReply };
  self.onmessage({ data: port });
  await new Promise(setImmediate); // It is ready once its promises are settled.
  return (data) => port.onmessage({ data });
}

function varint(number) {
  const bytes = [];
  for (; number > 127; number = Math.floor(number / 128)) bytes.push((number % 128) + 128);
  return [...bytes, number];
}

/** Tag and length of a field that holds bytes. */
function header(field, length) {
  return [...varint(field * 8 + 2), ...varint(length)];
}

/** The whole number at a position, up to 2 ** 53, and the position behind it. */
function readVarint(bytes, position) {
  let [value, scale] = [0, 1];
  for (; bytes[position] > 127; scale *= 128) value += (bytes[position++] - 128) * scale;
  return [value + bytes[position] * scale, position + 1];
}

/** What all fields of a message with this number hold: whole numbers, or bytes. */
function values(message, wanted) {
  const found = [];
  for (let position = 0, tag, value, end; position < message.length; position = end) {
    [tag, position] = readVarint(message, position);
    const wire = tag % 8;
    if (wire === 0) {
      [value, end] = readVarint(message, position);
    } else {
      let length = wire === 1 ? 8 : 4;
      if (wire === 2) [length, position] = readVarint(message, position);
      end = position + length;
      value = message.subarray(position, end);
    }
    if (Math.floor(tag / 8) === wanted) found.push(value);
  }
  return found;
}

async function main(ui, trace, query, least) {
  const replies = [];
  const send = await startEngine(ui, (reply) => replies.push(...values(reply, 1)));
  const ask = ({ method, argument, result, error }, bytes) => {
    const head = [...varint(2 * 8), method, ...(argument ? header(argument, bytes.length) : [])];
    // The pipe is one of bytes: a portion of the trace is sent behind the head, and never copied into a message.
    send(Uint8Array.from([...header(1, head.length + bytes.length), ...head]));
    send(bytes);
    const received = replies.splice(0);
    const results = received.flatMap((reply) => values(reply, result));
    const errors = [...received.flatMap((reply) => values(reply, 5)), ...results.flatMap((one) => values(one, error))];
    if (errors.length || !results.length) throw new Error(new TextDecoder().decode(errors[0]) || "no answer");
    return results;
  };
  const file = openSync(trace);
  const portion = new Uint8Array(PORTION_BYTES);
  for (let length; (length = readSync(file, portion)); ) ask(APPEND_TRACE_DATA, portion.subarray(0, length));
  closeSync(file);
  ask(FINALIZE_TRACE_DATA, NOTHING);
  const sql = new TextEncoder().encode(query);
  const results = ask(QUERY_STREAMING, Uint8Array.from([...header(1, sql.length), ...sql]));
  const [cells] = results.flatMap((one) => values(one, 3)).flatMap((batch) => values(batch, 2));
  const [answer] = readVarint(cells, 0);
  console.log(answer);
  if (answer < least) throw new Error(`${answer} loaded, of ${least}`);
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(`${error}`.split("\n\n")[0].replaceAll("\n", " "));
  process.exitCode = 1;
});
