/**
 * prompt_tokens of Claude leave out what was read from or written to the cache
 *
 * Claude's `input_tokens` leave out the tokens that were read from the cache or written to it. The gateway hands them on as
 * `prompt_tokens`, which in OpenAI's form are all tokens of the prompt.
 *
 * Install @portkey-ai/gateway 1.15.2 with @hono/node-server 1.14.1 (issue 1389), then run this file with node. Exit code:
 * 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import { spawn } from "node:child_process";
import http from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const SENT = String.raw`{"id":"msg_01","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"Deep."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":14,"cache_creation_input_tokens":0,"cache_read_input_tokens":2048,"output_tokens":3}}`;

const REQUEST = {
  "model": "claude-sonnet-4-6",
  "max_tokens": 64,
  "messages": [
    {
      "role": "system",
      "content": [{ "type": "text", "text": "The lake is Baikal. ".repeat(400), "cache_control": { "type": "ephemeral" } }]
    },
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
  response.writeHead(200, { "content-type": "application/json" }).end(SENT);
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
  const { usage } = JSON.parse(text);
  console.log(`sent: 14 tokens and 2048 from the cache; prompt_tokens: ${usage.prompt_tokens}, of these cached: ${usage.prompt_tokens_details.cached_tokens}`);
  process.exitCode = usage.prompt_tokens !== 2062 ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  gateway.kill();
  upstream.close();
}
