/**
 * A tool call that is cut off becomes a complete call
 *
 * The model is stopped by the limit of tokens, in the middle of the path. The joined message has a valid call with the
 * half path, and no invalid one.
 *
 * Install @langchain/openai 1.6.0 and @langchain/core 1.4.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { ChatOpenAI } from "@langchain/openai";

const SENT = String.raw`data: {"id":"c","object":"chat.completion.chunk","created":1785300000,"model":"gpt-5.4","choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"delete_files","arguments":""}}]},"logprobs":null,"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1785300000,"model":"gpt-5.4","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"/srv/ol"}}]},"logprobs":null,"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1785300000,"model":"gpt-5.4","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}]}

data: [DONE]

`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const model = new ChatOpenAI({
  model: "gpt-5.4",
  apiKey: "key",
  configuration: { baseURL: `http://127.0.0.1:${port}/v1` },
  maxRetries: 0,
});
try {
  const parameters = { type: "object", properties: { path: { type: "string" } } };
  const bound = model.bindTools([{ type: "function", function: { name: "delete_files", parameters } }]);
  let whole;
  for await (const chunk of await bound.stream("Delete the old files.")) whole = whole?.concat(chunk) ?? chunk;
  const { tool_calls: valid, invalid_tool_calls: invalid } = whole;
  console.log(`sent {"path":"/srv/ol and a limit; got ${JSON.stringify(valid)}, invalid: ${JSON.stringify(invalid)}`);
  process.exitCode = valid.length > 0 ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.close();
}
