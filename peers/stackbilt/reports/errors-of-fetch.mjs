/**
 * Lost connections and broken JSON raise errors that are not the library's
 *
 * A caller who catches LLMProviderError, the base class of the documented errors, does not catch them.
 *
 * Install @stackbilt/llm-providers 1.21.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { OpenAIProvider } from "@stackbilt/llm-providers";

const SENT = String.raw`{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"mess`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const provider = new OpenAIProvider({ apiKey: "key", baseUrl: `http://127.0.0.1:${port}`, timeout: 20000, maxRetries: 0 });
const request = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Which files may go?" }] };
try {
  const error = await provider.generateResponse(request).catch((reason) => reason);
  console.log(`sent half of a JSON document; got ${error.constructor.name}: ${error.message}`);
  process.exitCode = error instanceof SyntaxError ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
