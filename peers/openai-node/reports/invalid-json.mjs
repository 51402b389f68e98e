/**
 * A body that is no valid JSON raises a SyntaxError, which is no OpenAI.APIError
 *
 * The body ends in its middle, and the connection is closed properly, as behind a proxy with a limit.
 *
 * Install openai 7.57.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import OpenAI from "openai";

const SENT = String.raw`{"id":"chatcmpl-1","object":"chat.completion","created":1784810467,"model":"gpt-5","choices":[{"index":0,"message":{"role":"assis`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}`, apiKey: "key", maxRetries: 0 });
try {
  const error = await client.chat.completions
    .create({ model: "gpt-5", messages: [{ role: "user", content: "Hi" }] })
    .catch((reason) => reason);
  const isOwn = error instanceof OpenAI.APIError;
  console.log(`sent half a JSON document; got ${error.constructor.name}: ${error.message}; an OpenAI.APIError: ${isOwn}`);
  process.exitCode = error instanceof SyntaxError && !isOwn ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
