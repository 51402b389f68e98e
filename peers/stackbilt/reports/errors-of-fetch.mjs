/**
 * Lost connections and broken JSON raise errors that are not the library's
 *
 * A caller who catches LLMProviderError, the base class of the documented errors, does not catch them.
 *
 * Install @stackbilt/llm-providers 1.21.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { defaultCircuitBreakerManager, LLMProviderError, OpenAIProvider } from "@stackbilt/llm-providers";

const SENT = String.raw`{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"mess`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const asked = async (baseUrl) => {
  const provider = new OpenAIProvider({ apiKey: "key", baseUrl, timeout: 20000, maxRetries: 0 });
  const request = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Which files may go?" }] };
  return provider.generateResponse(request).catch((reason) => reason);
};
try {
  const broken = await asked(`http://127.0.0.1:${port}`);
  defaultCircuitBreakerManager.resetAll(); // else it rejects a tenth of the calls that follow a failure, unsent
  const closed = http.createServer();
  const nobody = await new Promise((done) => closed.listen(0, "127.0.0.1", () => done(closed.address().port)));
  await new Promise((done) => closed.close(done));
  const refused = await asked(`http://127.0.0.1:${nobody}`);
  console.log(`sent half of a JSON document; got ${broken.constructor.name}: ${broken.message}`);
  console.log(`asked a port where nobody listens; got ${refused.constructor.name}: ${refused.message}`);
  process.exitCode = [broken, refused].every((error) => error instanceof LLMProviderError) ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
