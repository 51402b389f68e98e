/**
 * The limits of a shell call are dropped
 *
 * `max_output_length` and `timeout_ms` of the action are not in the call, although the documented input of the tool has
 * `maxOutputLength` and `timeoutMs`. The same holds for streams.
 *
 * Install ai 6.0.326 with @ai-sdk/openai 3.0.141, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";

const SENT = String.raw`{"id":"resp_1","object":"response","created_at":1785300000,"status":"completed","error":null,"incomplete_details":null,"model":"gpt-5.4","output":[{"id":"sh_1","type":"shell_call","status":"completed","call_id":"call_1","action":{"commands":["du -sh ."],"max_output_length":4096,"timeout_ms":60000},"environment":{"type":"local"}}],"usage":{"input_tokens":9,"output_tokens":4,"total_tokens":13}}`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const client = createOpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: "key" });
try {
  const result = await generateText({
    model: client.responses("gpt-5.4"),
    prompt: "How large is this folder?",
    tools: { shell: client.tools.shell({}) },
    maxRetries: 0,
  });
  const { action } = result.toolCalls[0].input;
  console.log(`sent max_output_length 4096 and timeout_ms 60000; got ${JSON.stringify(action)}`);
  process.exitCode = action.maxOutputLength === 4096 && action.timeoutMs === 60000 ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.close();
}
