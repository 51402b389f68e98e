/**
 * A stream that breaks off is an answer with the finish reason `other`
 *
 * The stream ends in the middle of the text: no content_block_stop, no message_delta, no message_stop. No error is
 * reported, and the promises of the result resolve.
 *
 * Install ai 6.0.326 with @ai-sdk/anthropic 3.0.138, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { createAnthropic } from "@ai-sdk/anthropic";
import { streamText } from "ai";

const SENT = String.raw`event: message_start
data: {"type":"message_start","message":{"model":"claude-sonnet-4-6","id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":24,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Delete all files except"}}

`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const client = createAnthropic({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: "key" });
try {
  const errors = [];
  const result = streamText({
    model: client("claude-sonnet-4-6"),
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
