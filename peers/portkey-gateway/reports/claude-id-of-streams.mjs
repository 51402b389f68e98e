/**
 * The id of a stream of Claude's is made up
 *
 * A stream of Claude's begins with `message_start`, which has the id `msg_...`. The chunks of `/v1/chat/completions` have
 * `anthropic-` and the time in its place.
 *
 * Install @portkey-ai/gateway 1.15.2 with @hono/node-server 1.14.1 (issue 1389), then run this file with node. Exit code:
 * 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import { spawn } from "node:child_process";
import http from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const SENT = String.raw`event: message_start
data: {"type":"message_start","message":{"id":"msg_01abc","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"1642 m."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}

event: message_stop
data: {"type":"message_stop"}

`;

const REQUEST = {
  "model": "claude-sonnet-4-6",
  "max_tokens": 64,
  "stream": true,
  "messages": [
    {
      "role": "user",
      "content": "How deep is the lake?"
    }
  ]
};

let asked;
const upstream = http.createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  asked = JSON.parse(Buffer.concat(pieces));
  response.writeHead(200, { "content-type": "text/event-stream" }).end(SENT);
});
const listening = (server) => new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const port = await listening(upstream);
const probe = http.createServer();
const gatewayPort = await listening(probe);
await new Promise((done) => probe.close(done));

const folder = dirname(createRequire(import.meta.url).resolve("@portkey-ai/gateway/package.json"));
const gateway = spawn(
  process.execPath,
  [join(folder, "build", "start-server.js"), "--headless", `--port=${gatewayPort}`],
  { env: { ...process.env, TRUSTED_CUSTOM_HOSTS: "127.0.0.1" }, stdio: "ignore" },
);
try {
  for (let tries = 0; tries < 300; tries += 1) {
    if (await fetch(`http://127.0.0.1:${gatewayPort}/`).catch(() => null)) break;
    await wait(100);
  }
  const response = await fetch(`http://127.0.0.1:${gatewayPort}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: "Bearer key",
      "x-portkey-provider": "anthropic",
      "x-portkey-custom-host": `http://127.0.0.1:${port}/v1`,
    },
    body: JSON.stringify(REQUEST),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  console.log(`sent: the id msg_01abc; the stream has: ${text.split("\n")[0]}`);
  process.exitCode = !text.includes("msg_01abc") ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  gateway.kill();
  upstream.close();
}
