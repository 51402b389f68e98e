/**
 * The error of a rate limit does not say when to try again
 *
 * The header `retry-after` is not on the error, and `getRetryDelay` does not follow it.
 *
 * Install @stackbilt/llm-providers 1.21.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { AnthropicProvider, LLMErrorFactory } from "@stackbilt/llm-providers";

const SENT = String.raw`{"type":"error","error":{"type":"rate_limit_error","message":"Too many requests."}}`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(429, { "content-type": "application/json", "retry-after": "41" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const provider = new AnthropicProvider({ apiKey: "key", baseUrl: `http://127.0.0.1:${port}`, timeout: 20000, maxRetries: 0 });
const request = { model: "claude-haiku-4-5-20251001", messages: [{ role: "user", content: "Which files may go?" }] };
try {
  const error = await provider.generateResponse(request).catch((reason) => reason);
  const known = JSON.stringify({ ...error, message: error.message });
  console.log(`sent 429 with "retry-after: 41"; got ${error.constructor.name} ${known}`);
  console.log(`LLMErrorFactory.getRetryDelay says ${LLMErrorFactory.getRetryDelay(error)} ms`);
  process.exitCode = error.statusCode === 429 && !known.includes("41") ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
