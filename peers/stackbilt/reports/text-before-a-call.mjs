/**
 * The text that Claude wrote before a tool call does not go back with the call
 *
 * The documented loop of tools runs against a server that records the requests. Claude's first answer has a text and a
 * call; the next request has the call alone.
 *
 * Install @stackbilt/llm-providers 1.21.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { LLMProviders } from "@stackbilt/llm-providers";

const CALL = String.raw`{"model":"claude-haiku-4-5-20251001","id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"I will look it up."},{"type":"tool_use","id":"toolu_01A09q90qw90lq917835lq9","name":"departures","input":{"from":"Turku"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":24,"output_tokens":4}}`;
const ANSWER = String.raw`{"model":"claude-haiku-4-5-20251001","id":"msg_2","type":"message","role":"assistant","content":[{"type":"text","text":"At 8:45."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":48,"output_tokens":4}}`;

const requests = [];
const server = http.createServer((request, response) => {
  let body = "";
  request.on("data", (piece) => (body += piece));
  request.on("end", () => {
    requests.push(JSON.parse(body));
    const sent = requests.length === 1 ? CALL : ANSWER;
    response.writeHead(200, { "content-type": "application/json" }).end(sent);
  });
});
const port = await new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const llm = new LLMProviders({
  anthropic: { apiKey: "key", baseUrl: `http://127.0.0.1:${port}`, maxRetries: 0 },
  defaultProvider: "anthropic",
});
const departures = {
  name: "departures",
  description: "Departures of boats",
  parameters: { type: "object", properties: { from: { type: "string" } }, required: ["from"] },
};
try {
  await llm.generateResponseWithTools(
    {
      model: "claude-haiku-4-5-20251001",
      messages: [{ role: "user", content: "When is the next boat from Turku?" }],
      tools: [{ type: "function", function: departures }],
    },
    { execute: async () => "8:45" },
  );
  const [, earlier] = requests[1].messages;
  console.log(`sent a text and a call; the next request has ${JSON.stringify(earlier)}`);
  process.exitCode = JSON.stringify(earlier).includes("I will look it up.") ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
