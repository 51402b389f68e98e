/**
 * The place of a citation is dropped in chat completions
 *
 * `start_index` and `end_index` are neither in the source nor in the text part, which has no `citations`.
 *
 * Install ai 7.0.173 with @ai-sdk/openai 4.0.118, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";

const SENT = String.raw`{"id":"c","object":"chat.completion","created":1781330518,"model":"gpt-5-search-api","choices":[{"index":0,"message":{"role":"assistant","content":"Open since 1887 (tower.example).","refusal":null,"annotations":[{"type":"url_citation","url_citation":{"start_index":16,"end_index":31,"title":"Tower","url":"https://tower.example/"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const client = createOpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: "key" });
try {
  const result = await generateText({ model: client.chat("gpt-5-search-api"), prompt: "Since when?", maxRetries: 0 });
  const parts = JSON.stringify(result.content);
  console.log(`sent a citation of the code points 16 to 31; got ${parts}`);
  process.exitCode = /\b16\b/.test(parts) && /\b31\b/.test(parts) ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.close();
}
