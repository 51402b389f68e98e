/**
 * The reasoning of a plain answer of DeepSeek is dropped
 *
 * The message of a plain answer of DeepSeek's is rebuilt without `reasoning_content`, so that the reasoning is lost.
 *
 * Install @portkey-ai/gateway 1.15.2 with @hono/node-server 1.14.1 (issue 1389), then run this file with node. Exit code:
 * 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import { spawn } from "node:child_process";
import http from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const SENT = String.raw`{"id":"c","object":"chat.completion","created":1,"model":"deepseek-reasoner","choices":[{"index":0,"message":{"role":"assistant","content":"1642 m.","reasoning_content":"Baikal is meant."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18,"completion_tokens_details":{"reasoning_tokens":5}}}`;

const REQUEST = {
  "model": "deepseek-reasoner",
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
      "x-portkey-provider": "deepseek",
      "x-portkey-custom-host": `http://127.0.0.1:${port}`,
      "x-portkey-strict-open-ai-compliance": "false",
    },
    body: JSON.stringify(REQUEST),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  const { message } = JSON.parse(text).choices[0];
  console.log(`sent: reasoning_content "Baikal is meant."; the message has: ${JSON.stringify(message)}`);
  process.exitCode = !message.reasoning_content ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  gateway.kill();
  upstream.close();
}
