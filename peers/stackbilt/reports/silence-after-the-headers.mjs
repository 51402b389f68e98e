/**
 * `timeout` does not hold for a provider that falls silent after its headers
 *
 * The timer is cleared as soon as the headers are there.
 *
 * Install @stackbilt/llm-providers 1.21.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { OpenAIProvider } from "@stackbilt/llm-providers";

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).flushHeaders());
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const provider = new OpenAIProvider({ apiKey: "key", baseUrl: `http://127.0.0.1:${port}`, timeout: 2000, maxRetries: 0 });
const request = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Which files may go?" }] };
try {
  const late = new Promise((done) => setTimeout(done, 10000, "late"));
  const first = await Promise.race([late, provider.generateResponse(request).catch((error) => error)]);
  console.log(`the time limit is 2 s; after 10 s ${first === "late" ? "nothing has come" : `this has come: ${first}`}`);
  process.exitCode = first === "late" ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
