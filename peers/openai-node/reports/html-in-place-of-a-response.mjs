/**
 * A page of HTML makes `responses.create` fail with a TypeError of its own
 *
 * A proxy answers with its sign-in page and the status 200.
 *
 * Install openai 7.57.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import OpenAI from "openai";

const SENT = `<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in to the network</body></html>`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}`, apiKey: "key", maxRetries: 0 });
try {
  const error = await client.responses.create({ model: "gpt-5", input: "Hi" }).catch((reason) => reason);
  const isOwn = error instanceof OpenAI.APIError;
  console.log(`sent a page of HTML; got ${error.constructor?.name}: ${error.message ?? error}; an OpenAI.APIError: ${isOwn}`);
  process.exitCode = error instanceof TypeError && error.message.includes("'in' operator") ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
