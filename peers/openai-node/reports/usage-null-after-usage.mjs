/**
 * A chunk with `usage: null` behind the usage makes the stream helper forget the usage
 *
 * With `moderation` in the request, OpenAI can send a chunk with the results behind the chunk with the usage.
 *
 * Install openai 7.57.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import OpenAI from "openai";

const SENT = String.raw`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[{"index":0,"delta":{"role":"assistant","content":"A leap second."},"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[],"usage":{"prompt_tokens":18,"completion_tokens":82,"total_tokens":100}}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1784810467,"model":"gpt-5-2025-08-07","choices":[],"usage":null,"moderation":{"input":{"type":"moderation_results","model":"omni-moderation-latest","results":[]}}}

data: [DONE]

`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}`, apiKey: "key", maxRetries: 0 });
try {
  const completion = await client.chat.completions
    .stream({
      model: "gpt-5",
      messages: [{ role: "user", content: "Hi" }],
      moderation: { model: "omni-moderation-latest" },
      stream_options: { include_usage: true },
    })
    .finalChatCompletion();
  console.log(`sent 100 tokens in all; usage of the completion: ${JSON.stringify(completion.usage)}`);
  process.exitCode = completion.usage?.total_tokens === 100 ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
