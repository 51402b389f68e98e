/**
 * An error inside a stream is lost, and half an answer ends like a whole one
 *
 * Anthropic reports an overload as an event of its own, in the middle of the answer. The event is skipped.
 *
 * Install @stackbilt/llm-providers 1.21.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { AnthropicProvider } from "@stackbilt/llm-providers";

const SENT = String.raw`event: message_start
data: {"type":"message_start","message":{"model":"claude-haiku-4-5-20251001","id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":24,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Delete all files except"}}

event: error
data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}

`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const provider = new AnthropicProvider({ apiKey: "key", baseUrl: `http://127.0.0.1:${port}`, timeout: 20000, maxRetries: 0 });
const request = { model: "claude-haiku-4-5-20251001", messages: [{ role: "user", content: "Which files may go?" }] };
try {
  let text = "";
  let raised = null;
  try {
    for await (const piece of await provider.streamResponse(request)) text += piece;
  } catch (error) {
    raised = error;
  }
  console.log(`sent half an answer and an error; got ${JSON.stringify(text)}, ${raised ? `and ${raised}` : "and no error"}`);
  process.exitCode = raised ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
