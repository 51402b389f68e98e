/**
 * A response that fails in a stream is an answer like any other
 *
 * The stream ends with `response.failed` and an error, and has no `error` event. Nothing is thrown, and the message has
 * no sign of it. The same response without a stream throws the error.
 *
 * Install @langchain/openai 1.6.0 and @langchain/core 1.4.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { ChatOpenAI } from "@langchain/openai";

const SENT = String.raw`event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1785300000,"status":"in_progress","model":"gpt-5.4","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Delete all files except","logprobs":[]}

event: response.failed
data: {"type":"response.failed","sequence_number":4,"response":{"id":"resp_1","object":"response","created_at":1785300000,"status":"failed","model":"gpt-5.4","output":[],"error":{"code":"server_error","message":"The server had an error while processing your request."},"usage":null}}

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
  let whole;
  for await (const chunk of await model.stream("Which files may go?")) whole = whole?.concat(chunk) ?? chunk;
  console.log(`sent half an answer and a failure; got ${JSON.stringify(whole.text)} and no error`);
  process.exitCode = JSON.stringify(whole).includes("server_error") ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = error.message.includes("The server had an error") ? 0 : 2;
} finally {
  server.close();
}
