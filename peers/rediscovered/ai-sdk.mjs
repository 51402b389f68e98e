/**
 * The AI SDK with one provider package, whichever is installed beside it: what it says of an answer, in a few words.
 *
 * For `python -m peers.rediscovery`: earlier releases of the provider packages with one release of `ai`. It asks by
 * generateText and streamText, and has only what the scenarios of these bugs need.
 */

import { readFileSync } from "node:fs";

import { APICallError, generateText, jsonSchema, RetryError, streamText, tool, wrapLanguageModel } from "ai";

import { NotImplementedError, serve } from "../program.mjs";

const NAMESPACE = "ai-sdk";

// The package, the API, how its model is made, and what its base URL leaves out.
const PROVIDERS = [
  ["anthropic", "anthropic:messages", "createAnthropic", (client, id) => client(id), "/messages"],
  ["deepseek", "deepseek:chat", "createDeepSeek", (client, id) => client(id), "/chat/completions"],
  ["google", "gemini:generate", "createGoogleGenerativeAI", (client, id) => client(id), ""],
  ["groq", "groq:chat", "createGroq", (client, id) => client(id), "/chat/completions"],
  ["mistral", "mistral:chat", "createMistral", (client, id) => client(id), "/chat/completions"],
  ["openai", "openai:chat", "createOpenAI", (client, id) => client.chat(id), "/chat/completions"],
  ["openai", "openai:responses", "createOpenAI", (client, id) => client.responses(id), "/responses"],
  ...["deepseek", "fireworks", "huggingface", "local", "openai", "snowflake"].map((provider) => [
    "openai-compatible", `${provider}:chat`, "createOpenAICompatible", (client, id) => client(id), "/chat/completions",
  ]),
  ["xai", "xai:chat", "createXai", (client, id) => client(id), "/chat/completions"],
  ["xai", "xai:responses", "createXai", (client, id) => client.responses(id), "/responses"],
];

const installed = new Map();
let version = "";
for (const [name, api, create, model, path] of PROVIDERS) {
  const at = new URL(`../node_modules/@ai-sdk/${name}/package.json`, import.meta.url);
  try {
    version = `@ai-sdk/${name} ${JSON.parse(readFileSync(at, "utf8")).version}`;
  } catch {
    continue;
  }
  installed.set(api, { name, create: (await import(`@ai-sdk/${name}`))[create], model, path });
}

const DESCRIPTION = {
  name: "ai-sdk",
  version,
  providers: [...installed.keys()],
  capabilities: [
    "streaming", "reasoning", "segments", "tools", "round_trip", "errors", "provenance", "raw_finish", "usage_details",
    "error_details", "incomplete_streams",
  ],
  methods: ["complete", "stream"],
  errors: { Error: "ServiceUnavailableError" },
};

const FINISH = { stop: "stop", length: "length", "content-filter": "content_filter", "tool-calls": "tool_calls" };

function request(call) {
  const { name, create, model, path } = installed.get(`${call.provider}:${call.api}`);
  const url = call.base_url + call.path;
  // Google's package writes the name of the model behind its base URL.
  const baseURL = path ? url.slice(0, -path.length) : url.replace(/\/models\/.*$/, "");
  // `supportsStructuredOutputs` and `includeUsage` are settings of openai-compatible. The other packages always send a
  // schema, and always ask for the counts of streams.
  const about = { name: call.provider, baseURL, apiKey: call.api_key, supportsStructuredOutputs: true };
  const client = create({ ...about, includeUsage: Boolean(call.params.stream_options?.include_usage) });
  const { max_tokens: maxTokens, max_output_tokens: maxOutputTokens = maxTokens, thinking, ...rest } = call.params;
  const format = rest.response_format?.json_schema ?? rest.text?.format;
  for (const each of ["tools", "n", "functions"]) {
    if (each in rest) throw new NotImplementedError(each);
  }
  return {
    model: format ? inFormat(model(client, call.model), format) : model(client, call.model),
    messages: call.messages.flatMap((message) => message.extras?.[NAMESPACE]?.messages ?? [converted(message, call)]),
    tools: Object.fromEntries(
      call.tools.map(({ function: { name, description, parameters } }) => [
        name,
        tool({ description, inputSchema: jsonSchema(parameters ?? { type: "object", properties: {} }) }),
      ]),
    ),
    maxOutputTokens,
    providerOptions: thinking ? { [name]: { thinking: { type: thinking.type, budgetTokens: thinking.budget_tokens } } } : {},
    maxRetries: 0,
    allowSystemInMessages: true,
  };
}

/** Return a model that is asked for JSON, without the check of `Output.object`, which a refusal would not pass. */
function inFormat(model, { name, schema }) {
  const transformParams = ({ params }) => ({ ...params, responseFormat: { type: "json", name, schema } });
  return wrapLanguageModel({ model, middleware: { specificationVersion: "v3", transformParams } });
}

function converted({ role, content, tool_call_id: toolCallId }, call) {
  const parts = Array.isArray(content) ? content.map(({ type, text }) => ({ type, text })) : content;
  if (role === "system" && parts !== content) return { role, content: parts.map(({ text }) => text).join("\n") };
  if (role !== "tool") return { role, content: parts };
  const calls = call.messages.flatMap((message) => message.tool_calls ?? []);
  const toolName = calls.find(({ id }) => id === toolCallId)?.name ?? "";
  return { role, content: [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value: content } }] };
}

async function complete(call) {
  const result = await generateText(request(call));
  return { response: await response(call, result), native: null };
}

async function* stream(call) {
  const result = streamText({ ...request(call), onError: () => {} });
  const calls = new Map();
  for await (const part of result.fullStream) {
    if (part.type === "error") throw part.error;
    else if (part.type === "text-delta") yield { event_type: "response.output_text.delta", delta: part.text };
    else if (part.type === "reasoning-delta") yield { event_type: "response.reasoning.delta", delta: part.text };
    else if (part.type === "tool-input-start") {
      calls.set(part.id, { index: calls.size, id: part.id, name: part.toolName });
      yield piece(calls.get(part.id));
    } else if (part.type === "tool-input-delta") yield piece(calls.get(part.id), part.delta);
  }
  yield { event_type: "response.completed", response: await response(call, result) };
}

function piece(toolCall, delta) {
  return { event_type: "response.function_call_arguments.delta", delta, tool_call: toolCall };
}

/** Return what a result says; after a stream its fields are promises. */
async function response(call, result) {
  const [text, reasoning, content, toolCalls, finish, rawFinish, counts, answer] = await Promise.all([
    result.text, result.reasoningText, result.content, result.toolCalls, result.finishReason, result.rawFinishReason,
    result.usage, result.response,
  ]);
  return {
    id: answer.id,
    created: answer.timestamp.toISOString(),
    provider: call.provider,
    model: answer.modelId,
    message: text,
    reasoning: reasoning || null,
    segments: content.flatMap(segment),
    tool_calls: toolCalls.map(({ toolCallId: id, toolName: name, input }) => ({
      id, type: "function", name, arguments: written(input),
    })),
    finish_reason: FINISH[finish] ?? null,
    raw_finish_reason: rawFinish ?? null,
    usage: usage(counts),
    extras: { [NAMESPACE]: { messages: answer.messages } },
  };
}

function written(input) {
  return typeof input === "string" ? input : JSON.stringify(input);
}

function segment({ type, text, input, toolCallId: id, toolName: name, providerMetadata }) {
  const opaque = Object.values(providerMetadata ?? {})[0] ?? {};
  if (type === "text") return [{ type, content: text }];
  if (type === "reasoning") {
    const { signature, redactedData: redacted, reasoningEncryptedContent: encrypted } = opaque;
    return [{ type, content: text, metadata: { signature, redacted, encrypted } }];
  }
  return type === "tool-call" ? [{ type: "tool_call", content: written(input), metadata: { id, name } }] : [];
}

function usage({ inputTokens, outputTokens, totalTokens, inputTokenDetails, outputTokenDetails, raw }) {
  return {
    prompt_tokens: inputTokens ?? null,
    completion_tokens: outputTokens ?? null,
    total_tokens: totalTokens ?? null,
    cached_tokens: inputTokenDetails?.cacheReadTokens ?? null,
    cache_write_tokens: inputTokenDetails?.cacheWriteTokens ?? null,
    reasoning_tokens: outputTokenDetails?.reasoningTokens ?? null,
    raw: raw ?? {},
  };
}

function reported(error) {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  return {
    error_type: APICallError.isInstance(last) && last.statusCode >= 400 ? last.name : "Error",
    message: last?.message ?? JSON.stringify(last),
    status_code: last?.statusCode,
    original_error: String(last?.cause ?? last),
  };
}

await serve({ description: DESCRIPTION, complete, stream, reported });
