/**
 * Tools are dropped for DeepSeek without a word
 *
 * The request goes to DeepSeek without its `tools`, `stream_options` and `reasoning_effort`. The answer does not say so.
 *
 * Install @portkey-ai/gateway 1.15.2 with @hono/node-server 1.14.1 (issue 1389), then run this file with node. Exit code:
 * 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import { spawn } from "node:child_process";
import http from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const SENT = String.raw`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"deepseek-chat","choices":[{"index":0,"delta":{"role":"assistant","content":"I cannot know."},"logprobs":null,"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"deepseek-chat","choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop"}]}

data: [DONE]

`;

const DROPPED = {
  tools: [{ type: "function", function: { name: "depth", parameters: { type: "object", properties: {} } } }],
  stream_options: { include_usage: true },
  reasoning_effort: "high",
};

const REQUEST = {
  model: "deepseek-chat",
  stream: true,
  messages: [{ role: "user", content: "How deep is the lake?" }],
  ...DROPPED,
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
      "x-portkey-provider": "deepseek",
      "x-portkey-custom-host": `http://127.0.0.1:${port}`,
    },
    body: JSON.stringify(REQUEST),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  const missing = Object.keys(DROPPED).filter((name) => !(name in asked));
  console.log(`asked with ${Object.keys(DROPPED)}; the upstream was asked with ${Object.keys(asked)}`);
  process.exitCode = missing.length > 0 ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  gateway.kill();
  upstream.close();
}
