/**
 * The content of a message of Mistral's is a list
 *
 * An answer of Mistral's with reasoning has a list of parts in `message.content`. The gateway hands it on as it is,
 * also with `x-portkey-strict-open-ai-compliance: true`. In OpenAI's form the content of an answer is a text or null.
 *
 * Install @portkey-ai/gateway 1.15.2 with @hono/node-server 1.14.1 (issue 1389), then run this file with node. Exit code:
 * 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import { spawn } from "node:child_process";
import http from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const SENT = String.raw`{"id":"c","object":"chat.completion","created":1,"model":"magistral-medium-latest","choices":[{"index":0,"message":{"role":"assistant","tool_calls":null,"content":[{"type":"thinking","thinking":[{"type":"text","text":"Baikal is meant."}]},{"type":"text","text":"1642 m."}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}`;

const REQUEST = {
  "model": "magistral-medium-latest",
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
      "x-portkey-provider": "mistral-ai",
      "x-portkey-custom-host": `http://127.0.0.1:${port}`,
      "x-portkey-strict-open-ai-compliance": "true",
    },
    body: JSON.stringify(REQUEST),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  const { content } = JSON.parse(text).choices[0].message;
  console.log(`sent: the text "1642 m."; content is: ${JSON.stringify(content)}`);
  process.exitCode = typeof content !== "string" ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  gateway.kill();
  upstream.close();
}
