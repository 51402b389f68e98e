/**
 * A call of `apply_patch` is missing in a stream
 *
 * Without a stream the call is in `additional_kwargs.tool_outputs` and in `contentBlocks`. In a stream it is in
 * neither.
 *
 * Install @langchain/openai 1.6.0 and @langchain/core 1.4.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { ChatOpenAI } from "@langchain/openai";

const SENT = String.raw`event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1785300000,"status":"in_progress","model":"gpt-5.4","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"apc_1","type":"apply_patch_call","call_id":"call_1","status":"in_progress","operation":{"type":"delete_file","path":"old.txt"}}}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":2,"output_index":0,"item":{"id":"apc_1","type":"apply_patch_call","call_id":"call_1","status":"completed","operation":{"type":"delete_file","path":"old.txt"}}}

event: response.completed
data: {"type":"response.completed","sequence_number":3,"response":{"id":"resp_1","object":"response","created_at":1785300000,"status":"completed","model":"gpt-5.4","output":[{"id":"apc_1","type":"apply_patch_call","call_id":"call_1","status":"completed","operation":{"type":"delete_file","path":"old.txt"}}],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":0},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":13}}}

`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const model = new ChatOpenAI({
  model: "gpt-5.4",
  apiKey: "key",
  configuration: { baseURL: `http://127.0.0.1:${port}/v1` },
  useResponsesApi: true,
  maxRetries: 0,
});
try {
  const bound = model.bindTools([{ type: "apply_patch" }]);
  let whole;
  for await (const chunk of await bound.stream("Remove old.txt.")) whole = whole?.concat(chunk) ?? chunk;
  const { additional_kwargs: more, contentBlocks: blocks } = whole;
  const kept = JSON.stringify({ tool_outputs: more.tool_outputs, blocks });
  console.log(`sent a call of apply_patch; got ${kept}`);
  process.exitCode = more.tool_outputs?.some(({ type }) => type === "apply_patch_call") ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.close();
}
