/**
 * The result of a tool goes to Claude without `tool_use_id`
 *
 * The documented loop of tools runs against a server that records the requests. Claude's first answer calls a tool.
 * The block with the result has `id`, where Anthropic's API requires `tool_use_id`.
 *
 * Install @stackbilt/llm-providers 1.21.0, then run this file with node.
 * Exit code: 1 while the fault shows, 0 when it is mended, 2 if something else failed.
 */

import http from "node:http";

import { LLMProviders } from "@stackbilt/llm-providers";

const CALL = String.raw`{"model":"claude-haiku-4-5-20251001","id":"msg_1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_01A09q90qw90lq917835lq9","name":"departures","input":{"from":"Turku"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":24,"output_tokens":4}}`;
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
  const blocks = requests[1].messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const result = blocks.find(({ type }) => type === "tool_result");
  console.log(`Claude called toolu_01A09q90qw90lq917835lq9; the result goes back as ${JSON.stringify(result)}`);
  process.exitCode = result.tool_use_id === "toolu_01A09q90qw90lq917835lq9" ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  server.closeAllConnections();
  server.close();
}
