/**
 * An event that `responses.stream` does not know ends the stream with an error
 *
 * OpenAI can stream the diff of a patch in events of its own.
 *
 * Install openai 7.57.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import OpenAI from "openai";

const SENT = String.raw`event: response.created
data: {"type":"response.created","response":{"id":"resp_1","object":"response","created_at":1781031424,"model":"gpt-5.1-2025-11-13","parallel_tool_calls":true,"tools":[{"type":"apply_patch"}],"status":"in_progress","output":[],"usage":null},"sequence_number":0}

event: response.in_progress
data: {"type":"response.in_progress","response":{"id":"resp_1","object":"response","created_at":1781031424,"model":"gpt-5.1-2025-11-13","parallel_tool_calls":true,"tools":[{"type":"apply_patch"}],"status":"in_progress","output":[],"usage":null},"sequence_number":1}

event: response.output_item.added
data: {"type":"response.output_item.added","item":{"id":"apc_1","type":"apply_patch_call","call_id":"call_YRokNfzuNIJfGGe0o4yUYijQ","status":"in_progress","operation":{"type":"create_file","diff":"","path":"hello.txt"}},"output_index":0,"sequence_number":2}

event: response.apply_patch_call_operation_diff.delta
data: {"type":"response.apply_patch_call_operation_diff.delta","delta":"+hello world\n","item_id":"apc_1","output_index":0,"sequence_number":3}

event: response.apply_patch_call_operation_diff.done
data: {"type":"response.apply_patch_call_operation_diff.done","diff":"+hello world\n","item_id":"apc_1","output_index":0,"sequence_number":4}

event: response.output_item.done
data: {"type":"response.output_item.done","item":{"id":"apc_1","type":"apply_patch_call","call_id":"call_YRokNfzuNIJfGGe0o4yUYijQ","status":"completed","operation":{"type":"create_file","diff":"+hello world\n","path":"hello.txt"}},"output_index":0,"sequence_number":5}

event: response.completed
data: {"type":"response.completed","response":{"id":"resp_1","object":"response","created_at":1781031424,"model":"gpt-5.1-2025-11-13","parallel_tool_calls":true,"tools":[{"type":"apply_patch"}],"status":"completed","output":[{"id":"apc_1","type":"apply_patch_call","call_id":"call_YRokNfzuNIJfGGe0o4yUYijQ","status":"completed","operation":{"type":"create_file","diff":"+hello world\n","path":"hello.txt"}}],"usage":{"input_tokens":642,"input_tokens_details":{"cached_tokens":0},"output_tokens":37,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":679}},"sequence_number":6}

`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}`, apiKey: "key", maxRetries: 0 });
try {
  const error = await client.responses
    .stream({ model: "gpt-5.1", input: "Write hello.txt.", tools: [{ type: "apply_patch" }] })
    .finalResponse()
    .then((response) => response.output[0].operation, (reason) => reason);
  console.log(`sent a call of apply_patch; got ${error instanceof Error ? `${error.constructor.name}: ${error.message}` : JSON.stringify(error)}`);
  process.exitCode = error instanceof OpenAI.OpenAIError && error.message.startsWith("Unhandled response stream event") ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
