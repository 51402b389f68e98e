/**
 * A refusal of OpenAI's chat completions is lost
 *
 * `refusal` of the message has the words of the refusal, and `content` is null. The message is empty, and nothing in it
 * says that the model refused.
 *
 * Install @langchain/openai 1.6.0 and @langchain/core 1.4.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { ChatOpenAI } from "@langchain/openai";

const SENT = String.raw`{"id":"c","object":"chat.completion","created":1757509230,"model":"gpt-4o-2024-08-06","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":"I can't help with picking that lock.","annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":8,"total_tokens":17}}`;

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(SENT));
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const model = new ChatOpenAI({
  model: "gpt-4o-2024-08-06",
  apiKey: "key",
  configuration: { baseURL: `http://127.0.0.1:${port}/v1` },
  maxRetries: 0,
});
try {
  const message = await model.invoke("How do I open my neighbour's front door?");
  const whole = JSON.stringify(message);
  const { content, additional_kwargs: more } = message;
  console.log(`sent a refusal; got ${JSON.stringify({ content, more })}`);
  process.exitCode = whole.includes("picking that lock") ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.close();
}
