/**
 * The text of a plain answer of DeepSeek comes behind its tool calls
 *
 * The model writes a text, then calls a tool. `content` of a plain answer has the call first; that of a stream has the
 * text first.
 *
 * Install ai 7.0.173 with @ai-sdk/deepseek 3.0.56, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { createDeepSeek } from "@ai-sdk/deepseek";
import { generateText, jsonSchema, tool } from "ai";

const SENT = String.raw`{"id":"c","object":"chat.completion","created":1781330518,"model":"deepseek-v4-flash","choices":[{"index":0,"message":{"role":"assistant","content":"I will look it up.","reasoning_content":"A timetable.","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"departures","arguments":"{\"from\": \"TKU\"}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const client = createDeepSeek({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: "key" });
try {
  const result = await generateText({
    model: client("deepseek-v4-flash"),
    prompt: "Which boats leave Turku?",
    tools: { departures: tool({ inputSchema: jsonSchema({ type: "object", properties: {} }) }) },
    maxRetries: 0,
  });
  const types = result.content.map(({ type }) => type);
  console.log(`sent reasoning, text and a tool call; got ${types.join(", ")}`);
  process.exitCode = types.indexOf("tool-call") < types.indexOf("text") ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.close();
}
