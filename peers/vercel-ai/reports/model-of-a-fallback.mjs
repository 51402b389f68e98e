/**
 * A stream that a fallback model answers names the model that declined
 *
 * message_start names the model that was asked; the block `fallback` says which one answers instead. Anthropic's own
 * SDK takes the model of the message from that block.
 *
 * Install ai 7.0.173 with @ai-sdk/anthropic 4.0.105, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { createAnthropic } from "@ai-sdk/anthropic";
import { streamText } from "ai";

const SENT = String.raw`event: message_start
data: {"type":"message_start","message":{"model":"claude-fable-5","id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":24,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"fallback","from":{"model":"claude-fable-5"},"to":{"model":"claude-opus-4-8"},"trigger":{"type":"refusal","category":"cyber"}}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Each gate has its own pump."}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":31,"output_tokens":44}}

event: message_stop
data: {"type":"message_stop"}

`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const client = createAnthropic({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: "key" });
try {
  const result = streamText({
    model: client("claude-fable-5"),
    prompt: "How are the gates of a sea lock kept from opening together?",
    providerOptions: { anthropic: { fallbacks: [{ model: "claude-opus-4-8" }] } },
    maxRetries: 0,
  });
  await result.consumeStream();
  const { modelId } = await result.response;
  console.log(`claude-opus-4-8 answered; response.modelId is ${modelId}`);
  process.exitCode = modelId === "claude-fable-5" ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.close();
}
