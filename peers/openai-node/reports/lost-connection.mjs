/**
 * A connection that is lost in the middle of a plain answer raises fetch's TypeError
 *
 * The server announces a longer body than it sends, and closes the connection. The client may try twice more, but
 * asks once.
 *
 * Install openai 7.57.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import OpenAI from "openai";

const SENT = String.raw`{"id":"chatcmpl-1","object":"chat.completion","created":1784810467,"model":"gpt-5","choices":[{"index":0,"message":{"role":"assis`;
let asked = 0;

const server = http.createServer((request, response) => {
  asked += 1;
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "content-length": 4096 });
    response.write(SENT, () => setTimeout(() => request.socket.destroy(), 200));
  });
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}`, apiKey: "key", maxRetries: 2 });
try {
  const error = await client.chat.completions
    .create({ model: "gpt-5", messages: [{ role: "user", content: "Hi" }] })
    .catch((reason) => reason);
  const isOwn = error instanceof OpenAI.APIError;
  console.log(`sent half a body, and closed the connection; got ${error.constructor.name}: ${error.message}`);
  console.log(`an OpenAI.APIError: ${isOwn}; asked ${asked} times`);
  process.exitCode = error instanceof TypeError && !isOwn ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
