/**
 * Anthropic's SDK for TypeScript behind the line protocol.
 *
 *     npm ci --ignore-scripts --prefix peers/anthropic-node
 *     llm-conformance run --adapter="cmd:node peers/anthropic-node/adapter.mjs" --deviations=peers/anthropic-node/deviations.toml
 *
 * Plain answers come from `messages.create`. Streams go through the helper `messages.stream`, which folds them: what is
 * judged is its events and `finalMessage()`. An earlier answer goes back as the documentation says,
 * `{ role: "assistant", content: message.content }`. The library gives arguments of tools as objects, and the shim
 * writes these as JSON text. A citation is about the text block that has it.
 *
 * Requests with a field of a beta go through `client.beta.messages`: only its stream helper knows the deltas of a
 * compaction, the input of a tool of an MCP server, and the model behind a fallback.
 *
 * `timeout` ends with the headers of an answer. So the limit is set as an AbortSignal, too, for which the request has
 * the option `signal`; the library then throws its APIUserAbortError.
 */

import { readFileSync } from "node:fs";

import Anthropic, { APIError } from "@anthropic-ai/sdk";

import { serve } from "../program.mjs";

const NAMESPACE = "anthropic-node";
const { version } = JSON.parse(
  readFileSync(new URL("node_modules/@anthropic-ai/sdk/package.json", import.meta.url), "utf8"),
);

const DESCRIPTION = {
  name: NAMESPACE,
  version,
  providers: ["anthropic:messages"],
  capabilities: [
    "streaming", "reasoning", "segments", "annotations", "tools", "round_trip", "errors",
    "lost_connections", "unreadable_bodies", "incomplete_streams",
    "provenance", "raw_finish", "usage_details", "error_details",
  ],
  methods: ["complete", "stream"],
  errors: {
    APIConnectionTimeoutError: "TimeoutError",
    APIUserAbortError: "TimeoutError", // the signal is the time limit
    APIConnectionError: "ServiceUnavailableError",
    APIError: "LLMError", // an error in a stream, which has no status
    AnthropicError: "ServiceUnavailableError", // what the helper raises of a stream that broke off
    // `APIError.type` of an error in a stream
    overloaded_error: "ServiceUnavailableError",
    api_error: "ServiceUnavailableError",
    rate_limit_error: "RateLimitError",
    authentication_error: "AuthenticationError",
    permission_error: "AuthenticationError",
    invalid_request_error: "InvalidRequestError",
    billing_error: "InvalidRequestError",
    request_too_large: "InvalidRequestError",
    not_found_error: "ResourceNotFoundError",
    timeout_error: "TimeoutError",
  },
};

const FINISH = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  refusal: "content_filter",
  max_tokens: "length",
  model_context_window_exceeded: "length",
};

const BETA = ["context_management", "mcp_servers", "fallbacks"];
const CALLS = new Set(["tool_use", "server_tool_use", "mcp_tool_use"]);
// Events of the stream that are read, or whose content is in the final message.
const EVENTS = new Set([
  "message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta", "content_block_stop",
]);

const TEXT = "response.output_text.delta";
const ARGUMENTS = "response.function_call_arguments.delta";

// -- What is asked ---------------------------------------------------------------------------------------------------

function messagesOf(call) {
  const timeout = call.timeout_s * 1000;
  const client = new Anthropic({ baseURL: call.base_url, apiKey: call.api_key, timeout, maxRetries: 0 });
  return BETA.some((name) => name in call.params) ? client.beta.messages : client.messages;
}

function options(call) {
  return { signal: AbortSignal.timeout(call.timeout_s * 1000) };
}

/** Return the body of a request; parameters go out as they are, also those that the types do not name. */
function body(call) {
  const system = call.messages.filter(({ role }) => role === "system").map(({ content }) => content);
  const own = call.tools.map(({ function: { name, description = "", parameters } }) => ({
    name,
    description,
    input_schema: parameters,
  }));
  return {
    model: call.model,
    max_tokens: 4096,
    ...call.params,
    ...(system.length > 0 ? { system: system.length === 1 ? system[0] : system.join("\n\n") } : {}),
    ...(own.length > 0 ? { tools: [...(call.params.tools ?? []), ...own] } : {}),
    messages: conversation(call.messages),
  };
}

/** Return a conversation as the library's messages; the results of an answer's calls are one message there. */
function conversation(messages) {
  const said = [];
  let results = null;
  for (const message of messages) {
    const earlier = message.extras?.[NAMESPACE];
    if (message.role === "tool" && !earlier) {
      if (!results) said.push({ role: "user", content: (results = []) });
      results.push({ type: "tool_result", tool_use_id: message.tool_call_id, content: message.content });
      continue;
    }
    results = null;
    if (earlier) said.push({ role: "assistant", content: earlier.content });
    else if (message.role !== "system") said.push(message);
  }
  return said;
}

// -- What is answered ------------------------------------------------------------------------------------------------

async function complete(call) {
  return answer(await messagesOf(call).create(body(call), options(call)), call);
}

async function* stream(call) {
  const helper = messagesOf(call).stream(body(call), options(call));
  const calls = new Map(); // by the place of the block: the call
  for await (const event of helper) yield* events(event, calls);
  yield { event_type: "response.completed", ...answer(await helper.finalMessage(), call) };
}

function* events(event, calls) {
  if (event.type === "content_block_delta") {
    const { delta } = event;
    if (delta.type === "text_delta") yield { event_type: TEXT, delta: delta.text };
    else if (delta.type === "thinking_delta") yield { event_type: "response.reasoning.delta", delta: delta.thinking };
    else if (delta.type === "input_json_delta" && calls.has(event.index)) {
      yield { event_type: ARGUMENTS, delta: delta.partial_json, tool_call: calls.get(event.index) };
    }
  } else if (event.type === "content_block_start") yield* opened(event.content_block, event.index, calls);
  else if (event.type === "message_start") {
    // Calls of code that runs on Anthropic's side are whole here; the input of others follows.
    for (const [index, block] of event.message.content.entries()) yield* opened(block, index, calls);
  } else if (!EVENTS.has(event.type)) {
    yield { event_type: TEXT, delta: "", segments: [{ type: "other", content: "", metadata: event }] };
  }
}

function* opened(block, index, calls) {
  if (block.type === "text" && block.text) yield { event_type: TEXT, delta: block.text };
  if (block.type === "thinking" && block.thinking) {
    yield { event_type: "response.reasoning.delta", delta: block.thinking };
  }
  if (block.type !== "tool_use") return;
  calls.set(index, { index: calls.size, id: block.id, name: block.name });
  const delta = Object.keys(block.input ?? {}).length > 0 ? JSON.stringify(block.input) : undefined;
  yield { event_type: ARGUMENTS, delta, tool_call: calls.get(index) };
}

function answer(message, call) {
  const segments = message.content.map(segment);
  const thoughts = segments.filter(({ type }) => type === "reasoning").map(({ content }) => content);
  const annotations = [];
  let text = "";
  for (const block of message.content.filter(({ type }) => type === "text")) {
    const start = length(text);
    text += block.text;
    annotations.push(...(block.citations ?? []).map((data) => ({ start, end: length(text), data })));
  }
  const calls = message.content.filter(({ type }) => type === "tool_use");
  const response = {
    id: message.id,
    provider: call.provider,
    model: message.model,
    message: text,
    reasoning: thoughts.join("") || null,
    segments,
    annotations,
    tool_calls: calls.map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) })),
    usage: usage(message.usage),
    finish_reason: FINISH[message.stop_reason] ?? null,
    raw_finish_reason: message.stop_reason,
    extras: { [NAMESPACE]: { content: message.content } },
  };
  return { response, native: message };
}

function length(text) {
  return [...text].length;
}

function segment(block) {
  if (block.type === "text") return { type: "text", content: block.text };
  if (block.type === "thinking") {
    return { type: "reasoning", content: block.thinking, metadata: { signature: block.signature } };
  }
  if (block.type === "redacted_thinking") return { type: "reasoning", content: "", metadata: { redacted: block.data } };
  if (CALLS.has(block.type)) {
    const metadata = { id: block.id, name: block.name, server_executed: block.type !== "tool_use" || undefined };
    return { type: "tool_call", content: JSON.stringify(block.input), metadata };
  }
  return { type: "other", content: "", metadata: block };
}

/** Sum up as documented: input tokens are those that were neither read from the cache nor put there. */
function usage(counts) {
  if (!counts) return null;
  const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = counts;
  const { input_tokens: rest, output_tokens: answered } = counts;
  const asked = rest === null || rest === undefined ? null : rest + (read ?? 0) + (written ?? 0);
  return {
    prompt_tokens: asked,
    completion_tokens: answered,
    total_tokens: asked === null || answered === undefined ? null : asked + answered,
    cached_tokens: read ?? null,
    cache_write_tokens: written ?? null,
    reasoning_tokens: counts.output_tokens_details?.thinking_tokens ?? null,
    raw: counts,
  };
}

// -- What goes wrong -------------------------------------------------------------------------------------------------

function reported(error) {
  // An error in a stream has a type, and no status.
  const isInStream = error?.constructor === APIError && !error.status;
  return {
    error_type: (isInStream && DESCRIPTION.errors[error.type] && error.type) || error?.constructor?.name,
    message: error?.message,
    status_code: error?.status,
    headers: error?.headers ? Object.fromEntries(error.headers) : undefined,
    original_error: String(error?.cause ?? error),
    extra_context: { type: error?.type, request_id: error?.requestID },
  };
}

await serve({ description: DESCRIPTION, complete, stream, reported });
