/**
 * The token counts of a stream of Groq are lost if they are in `x_groq`
 *
 * The last chunk of a stream has its counts in `x_groq.usage`, as Groq has always sent them.
 *
 * Install @stackbilt/llm-providers 1.21.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { GroqProvider } from "@stackbilt/llm-providers";

const SENT = String.raw`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1781330518,"model":"llama-3.3-70b-versatile","choices":[{"index":0,"delta":{"role":"assistant","content":"None."},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1781330518,"model":"llama-3.3-70b-versatile","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"x_groq":{"id":"req_1","usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}}

data: [DONE]

`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const provider = new GroqProvider({ apiKey: "key", baseUrl: `http://127.0.0.1:${port}`, timeout: 20000, maxRetries: 0 });
const request = { model: "llama-3.3-70b-versatile", messages: [{ role: "user", content: "Which files may go?" }] };
try {
  const stream = await provider.streamResponse(request);
  for await (const _ of stream);
  const usage = await stream[Symbol.for("@stackbilt/llm-providers.streamUsage")];
  console.log(`sent 13 tokens in x_groq.usage; got ${JSON.stringify(usage) ?? "no usage"}`);
  process.exitCode = usage ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
