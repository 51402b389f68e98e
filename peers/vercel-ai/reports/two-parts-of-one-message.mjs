/**
 * Citations in the second part of a message point to the wrong words in a stream
 *
 * A stream joins the parts of one message to one text, but leaves the places of the citations as they count in their
 * own part. A plain answer has two texts.
 *
 * Install ai 7.0.173 with @ai-sdk/openai 4.0.118, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { createOpenAI } from "@ai-sdk/openai";
import { streamText } from "ai";

const SENT = String.raw`event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1785300000,"status":"in_progress","model":"gpt-5.4","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Two keepers agree. ","logprobs":[]}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":1,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":1,"delta":"Wait until May (source).","logprobs":[]}

event: response.output_text.annotation.added
data: {"type":"response.output_text.annotation.added","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":1,"annotation_index":0,"annotation":{"type":"url_citation","start_index":15,"end_index":23,"title":"Bees","url":"https://bees.example/"}}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":5,"output_index":0,"item":{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Two keepers agree. "},{"type":"output_text","annotations":[{"type":"url_citation","start_index":15,"end_index":23,"title":"Bees","url":"https://bees.example/"}],"logprobs":[],"text":"Wait until May (source)."}],"role":"assistant"}}

event: response.completed
data: {"type":"response.completed","sequence_number":6,"response":{"id":"resp_1","object":"response","created_at":1785300000,"status":"completed","model":"gpt-5.4","incomplete_details":null,"output":[],"usage":{"input_tokens":9,"output_tokens":4,"total_tokens":13}}}

`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const client = createOpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: "key" });
try {
  const result = streamText({ model: client.responses("gpt-5.4"), prompt: "When is the hive opened?", maxRetries: 0 });
  const [{ text, providerMetadata }] = (await result.content).filter(({ type }) => type === "text").slice(-1);
  const [{ start_index: start, end_index: end }] = providerMetadata.openai.annotations;
  const cited = text.slice(start, end);
  console.log(`the citation is of "(source)"; its place in the text leads to ${JSON.stringify(cited)}`);
  process.exitCode = cited === "(source)" ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.close();
}
