/**
 * A refusal of Claude has the finish reason `stop`
 *
 * So has an answer that has filled the context window.
 *
 * Install @stackbilt/llm-providers 1.21.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { AnthropicProvider } from "@stackbilt/llm-providers";

const SENT = String.raw`{"model":"claude-haiku-4-5-20251001","id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"First, open"}],"stop_reason":"refusal","stop_sequence":null,"usage":{"input_tokens":24,"output_tokens":4}}`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const provider = new AnthropicProvider({ apiKey: "key", baseUrl: `http://127.0.0.1:${port}`, timeout: 20000, maxRetries: 0 });
const request = { model: "claude-haiku-4-5-20251001", messages: [{ role: "user", content: "Which files may go?" }] };
try {
  const answer = await provider.generateResponse(request);
  console.log(`sent the stop reason "refusal"; got the finish reason ${JSON.stringify(answer.finishReason)}`);
  process.exitCode = answer.finishReason === "stop" ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
