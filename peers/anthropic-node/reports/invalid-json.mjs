/**
 * A body that is no valid JSON raises a SyntaxError, which is no AnthropicError
 *
 * The body ends in its middle, and the connection is closed properly, as behind a proxy with a limit.
 *
 * Install @anthropic-ai/sdk 1.12.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import Anthropic from "@anthropic-ai/sdk";

const SENT = String.raw`{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"Delete all files exc`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const client = new Anthropic({ baseURL: `http://127.0.0.1:${port}`, apiKey: "key", maxRetries: 0 });
try {
  const error = await client.messages
    .create({ model: "claude-sonnet-4-6", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] })
    .catch((reason) => reason);
  const isOwn = error instanceof Anthropic.AnthropicError;

  console.log(`sent half a JSON document; got ${error.constructor.name}: ${error.message}; an AnthropicError: ${isOwn}`);
  process.exitCode = error instanceof SyntaxError && !isOwn ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
