/**
 * Two messages of one response become one text in a stream, and citations point to the wrong words
 *
 * Both texts have the `content_index` 0, so their chunks are joined. The place of a citation counts in its own message.
 * The text of the first message has the phase of the second, too.
 *
 * Install @langchain/openai 1.6.0 and @langchain/core 1.4.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { ChatOpenAI } from "@langchain/openai";

const SENT = String.raw`event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1785300000,"status":"in_progress","model":"gpt-5.4","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant","phase":"commentary"}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Two keepers agree. ","logprobs":[]}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":4,"output_index":0,"item":{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Two keepers agree. "}],"role":"assistant","phase":"commentary"}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":5,"output_index":1,"item":{"id":"msg_2","type":"message","status":"in_progress","content":[],"role":"assistant","phase":"final_answer"}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":6,"item_id":"msg_2","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_2","output_index":1,"content_index":0,"delta":"Wait until May (source).","logprobs":[]}

event: response.output_text.annotation.added
data: {"type":"response.output_text.annotation.added","sequence_number":8,"item_id":"msg_2","output_index":1,"content_index":0,"annotation_index":0,"annotation":{"type":"url_citation","start_index":15,"end_index":23,"title":"Bees","url":"https://bees.example/"}}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":9,"output_index":1,"item":{"id":"msg_2","type":"message","status":"completed","content":[{"type":"output_text","annotations":[{"type":"url_citation","start_index":15,"end_index":23,"title":"Bees","url":"https://bees.example/"}],"logprobs":[],"text":"Wait until May (source)."}],"role":"assistant","phase":"final_answer"}}

event: response.completed
data: {"type":"response.completed","sequence_number":10,"response":{"id":"resp_1","object":"response","created_at":1785300000,"status":"completed","model":"gpt-5.4","output":[{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Two keepers agree. "}],"role":"assistant","phase":"commentary"},{"id":"msg_2","type":"message","status":"completed","content":[{"type":"output_text","annotations":[{"type":"url_citation","start_index":15,"end_index":23,"title":"Bees","url":"https://bees.example/"}],"logprobs":[],"text":"Wait until May (source)."}],"role":"assistant","phase":"final_answer"}],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":0},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":13}}}

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
  for await (const chunk of await model.stream("When is the hive opened?")) whole = whole?.concat(chunk) ?? chunk;
  const { text, phase, annotations } = whole.content.find((block) => block.annotations?.length > 0);
  const cited = text.slice(annotations[0].startIndex, annotations[0].endIndex);
  console.log(`the citation is of "(source)"; its place leads to ${JSON.stringify(cited)}, in the phase ${phase}`);
  process.exitCode = cited === "(source)" ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.close();
}
