/**
 * A connection that is lost in the middle of a plain answer raises fetch's TypeError
 *
 * The server announces a longer body than it sends, and closes the connection. The client may try twice more, but
 * asks once.
 *
 * Install @anthropic-ai/sdk 1.12.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import Anthropic from "@anthropic-ai/sdk";

const SENT = String.raw`{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"Delete all files exc`;
let asked = 0;

const server = http.createServer((request, response) => {
  asked += 1;
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "content-length": 4096 });
    response.write(SENT, () => setTimeout(() => request.socket.destroy(), 200));
  });
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const client = new Anthropic({ baseURL: `http://127.0.0.1:${port}`, apiKey: "key", maxRetries: 2 });
try {
  const error = await client.messages
    .create({ model: "claude-sonnet-4-6", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] })
    .catch((reason) => reason);
  const isOwn = error instanceof Anthropic.AnthropicError;

  console.log(`sent half a body, and closed the connection; got ${error.constructor.name}: ${error.message}`);
  console.log(`an Anthropic.AnthropicError: ${isOwn}; asked ${asked} times`);
  process.exitCode = error instanceof TypeError && !isOwn ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
