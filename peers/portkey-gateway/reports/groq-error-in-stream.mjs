/**
 * An error in a stream of Groq is lost
 *
 * Where Groq says within a stream that it failed, in an event `error` or in `x_groq.error`, the gateway does not hand
 * the error on. This program sends first the event, which has been recorded of Groq, then `x_groq.error`.
 *
 * Install @portkey-ai/gateway 1.15.2 with @hono/node-server 1.14.1 (issue 1389), then run this file with node. Exit code:
 * 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import { spawn } from "node:child_process";
import http from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const EVENT = String.raw`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"openai/gpt-oss-120b","choices":[{"index":0,"delta":{"role":"assistant","content":"One moment. "},"logprobs":null,"finish_reason":null}]}

event: error
data: {"error":{"message":"Tool call validation failed: parameters for tool tide did not match schema","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"{\"name\": \"tide\", \"arguments\": {\"harbour\": \"Brest\"}}","status_code":400}}

`;
const X_GROQ = String.raw`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"openai/gpt-oss-120b","choices":[{"index":0,"delta":{"role":"assistant","content":"One moment. "},"logprobs":null,"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"openai/gpt-oss-120b","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":null}],"x_groq":{"id":"req_1","error":"over capacity"}}

data: [DONE]

`;
const SENT = [
  [EVENT, "Tool call validation failed"],
  [X_GROQ, "over capacity"],
];

const REQUEST = {
  "model": "openai/gpt-oss-120b",
  "stream": true,
  "messages": [
    {
      "role": "user",
      "content": "How high is the tide at Brest?"
    }
  ],
  "tools": [
    {
      "type": "function",
      "function": {
        "name": "tide",
        "parameters": { "type": "object", "properties": { "port": { "type": "string" } }, "required": ["port"] }
      }
    }
  ]
};

let sending;
const upstream = http.createServer(async (request, response) => {
  for await (const _ of request);
  response.writeHead(200, { "content-type": "text/event-stream" }).end(sending);
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
  for (const [sent, message] of SENT) {
    sending = sent;
    const response = await fetch(`http://127.0.0.1:${gatewayPort}/v1/chat/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: "Bearer key",
        "x-portkey-provider": "groq",
        "x-portkey-custom-host": `http://127.0.0.1:${port}`,
      },
      body: JSON.stringify(REQUEST),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
    console.log(`sent: the error "${message}"; the stream has: ${text}`);
    if (!text.includes(message)) process.exitCode = 1;
  }
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  gateway.kill();
  upstream.close();
}
