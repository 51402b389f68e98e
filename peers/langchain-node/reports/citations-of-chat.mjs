/**
 * The citations of OpenAI's chat completions are lost
 *
 * Models that search send `annotations` with the pages that they cite. The message has them nowhere.
 *
 * Install @langchain/openai 1.6.0 and @langchain/core 1.4.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { ChatOpenAI } from "@langchain/openai";

const SENT = String.raw`{"id":"c","object":"chat.completion","created":1781330518,"model":"gpt-5-search-api","choices":[{"index":0,"message":{"role":"assistant","content":"Open since 1887 (tower.example).","refusal":null,"annotations":[{"type":"url_citation","url_citation":{"start_index":16,"end_index":31,"title":"Tower","url":"https://tower.example/"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const model = new ChatOpenAI({
  model: "gpt-5-search-api",
  apiKey: "key",
  configuration: { baseURL: `http://127.0.0.1:${port}/v1` },
  maxRetries: 0,
});
try {
  const message = await model.invoke("Since when is the tower open?");
  const whole = JSON.stringify(message);
  console.log(`sent a citation of https://tower.example/; got ${JSON.stringify(message.contentBlocks)}`);
  process.exitCode = whole.includes("https://tower.example/") ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.close();
}
