/**
 * A refusal of OpenAI is an empty answer
 *
 * The text of a refusal is in `refusal`, and `content` is null.
 *
 * Install @stackbilt/llm-providers 1.21.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { OpenAIProvider } from "@stackbilt/llm-providers";

const SENT = String.raw`{"id":"chatcmpl-1","object":"chat.completion","created":1781330518,"model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":"I cannot help with that.","annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const provider = new OpenAIProvider({ apiKey: "key", baseUrl: `http://127.0.0.1:${port}`, timeout: 20000, maxRetries: 0 });
const request = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Which files may go?" }] };
try {
  const answer = await provider.generateResponse(request);
  const { message, finishReason } = answer;
  console.log(`sent a refusal; got the message ${JSON.stringify(message)} and the finish reason ${finishReason}`);
  process.exitCode = finishReason === "stop" && !JSON.stringify(answer).includes("I cannot help") ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
