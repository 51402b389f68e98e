/**
 * The line protocol for shims in JavaScript (docs/shims.md): one question a line, answers in lines.
 *
 *     import { serve } from "../program.mjs";
 *     await serve({ description, complete, stream, reported });
 *
 * It needs nothing but Node, so that it can be copied beside an adapter of one's own.
 */

import { createInterface } from "node:readline";

/** Stands for what the library has no way to say. If it is raised before anything is sent, the call is unsupported. */
export class NotImplementedError extends Error {}

/**
 * Answer questions until the input ends.
 *
 * description: what `describe` is answered with.
 * complete(call): returns `{ response, native }`; `native` is what the library returned.
 * stream(call): yields events; an event with a `response` may have `native` beside it.
 * reported(error): returns an error as the protocol has it.
 */
export async function serve({ description, complete, stream, reported }) {
  // Standard output belongs to the protocol; libraries write warnings to the console.
  console.log = console.info = console.debug = console.error;
  for await (const line of createInterface({ input: process.stdin })) {
    const { op, call } = JSON.parse(line);
    try {
      if (op === "describe") say(description);
      else if (op === "complete") say(await complete(call));
      else {
        for await (const { native, ...event } of stream(call)) say({ event, native });
        say({ done: true });
      }
    } catch (error) {
      say({ error: error instanceof NotImplementedError ? refused(error) : reported(error) });
    }
  }
}

function refused({ message }) {
  return { error_type: "NotImplementedError", message };
}

function say(line) {
  process.stdout.write(`${JSON.stringify(line, asPlain())}\n`);
}

/** Return a replacer for JSON: big integers and bytes become text, and an object within itself becomes null. */
function asPlain() {
  const above = [];
  return function plain(_, value) {
    if (typeof value === "bigint") return String(value);
    if (value === null || typeof value !== "object") return value;
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(value)) return null;
    above.push(value);
    return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
  };
}
