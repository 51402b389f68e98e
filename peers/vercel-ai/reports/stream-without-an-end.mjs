/**
 * A stream of DeepSeek that breaks off has the finish reason `other`, and not `interrupted`
 *
 * The stream ends in the middle of the text: no chunk with a finish_reason, no [DONE]. No error is reported, and the
 * promises of the result resolve.
 *
 * Install ai 7.0.173 with @ai-sdk/deepseek 3.0.56, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { createDeepSeek } from "@ai-sdk/deepseek";
import { streamText } from "ai";

const SENT = String.raw`data: {"id":"7a1c","object":"chat.completion.chunk","created":1784810467,"model":"deepseek-chat","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}

data: {"id":"7a1c","object":"chat.completion.chunk","created":1784810467,"model":"deepseek-chat","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":"Delete all files except"},"logprobs":null,"finish_reason":null}]}

`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const client = createDeepSeek({ baseURL: `http://127.0.0.1:${port}`, apiKey: "key" });
try {
  const errors = [];
  const result = streamText({
    model: client("deepseek-chat"),
    prompt: "Which files may go?",
    maxRetries: 0,
    onError: ({ error }) => errors.push(error),
  });
  const text = await result.text;
  const finishReason = await result.finishReason;
  console.log(`sent half a stream; got ${JSON.stringify(text)}, the finish reason ${finishReason}, ${errors.length} errors`);
  process.exitCode = errors.length === 0 && finishReason === "other" ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.close();
}
