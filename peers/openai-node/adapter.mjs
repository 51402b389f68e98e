/**
 * OpenAI's SDK for Node behind the line protocol.
 *
 *     npm ci --ignore-scripts --prefix peers/openai-node
 *     llm-conformance run --adapter="cmd:node peers/openai-node/adapter.mjs" --deviations=peers/openai-node/deviations.toml
 *
 * Plain answers come from `chat.completions.create` and `responses.create`, as the README shows. Streams go through the
 * helpers `chat.completions.stream` and `responses.stream`, which fold them: what is judged is `finalChatCompletion()`
 * and `finalResponse()`. An earlier answer goes back as the library's message
 * (`messages.push(completion.choices[0].message)`) or output items (`input.push(...response.output)`).
 *
 * `timeout` ends with the headers of an answer. So the limit is set as an AbortSignal, too, which is documented to
 * hold while the body is read (README, Cancellation); the library then throws its APIUserAbortError.
 */

import { readFileSync } from "node:fs";

import OpenAI, { APIError } from "openai";

import { annotation, answer, deltas, length, time } from "../chat.mjs";
import { NotImplementedError, serve } from "../program.mjs";

const NAMESPACE = "openai-node";
const { version } = JSON.parse(
  readFileSync(new URL("node_modules/openai/package.json", import.meta.url), "utf8"),
);

const DESCRIPTION = {
  name: NAMESPACE,
  version,
  providers: ["openai:chat", "openai:responses"],
  capabilities: [
    "streaming", "reasoning", "segments", "annotations", "audio", "tools", "round_trip", "errors",
    "lost_connections", "unreadable_bodies",
    "provenance", "raw_finish", "usage_details", "error_details",
  ],
  methods: ["complete", "stream"],
  errors: {
    APIConnectionTimeoutError: "TimeoutError",
    APIUserAbortError: "TimeoutError", // the signal is the time limit
    APIConnectionError: "ServiceUnavailableError",
    APIError: "LLMError", // an error in a stream, which has no status
    OpenAIError: "ServiceUnavailableError", // what a helper raises of a stream that broke off
    // `ResponseError.code` of a response that failed, and `type` or `code` of an error in a stream
    server_error: "ServiceUnavailableError",
    rate_limit_exceeded: "RateLimitError",
    insufficient_quota: "RateLimitError",
    invalid_request_error: "InvalidRequestError",
    invalid_prompt: "InvalidRequestError",
    vector_store_timeout: "TimeoutError",
  },
};

const FINISH = { completed: "stop", max_output_tokens: "length", content_filter: "content_filter", failed: "error" };

// Items that are calls of the client's tools, with the field that has the arguments.
const CALLS = { function_call: "arguments", custom_tool_call: "input" };
// Calls of tools that OpenAI defines and the client runs, with the fields that say what to do.
const OWN_CALLS = {
  computer_call: ["actions", "action"],
  local_shell_call: ["action"],
  shell_call: ["action"],
  apply_patch_call: ["operation"],
  tool_search_call: ["arguments"],
};
// Calls of tools that run at OpenAI's; of the shell and the search for tools those that are not the client's.
const HOSTED = new Set([
  "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call", "program",
  "shell_call", "tool_search_call",
]);

const TEXT = "response.output_text.delta";
const ARGUMENTS = "response.function_call_arguments.delta";

// -- What is asked ---------------------------------------------------------------------------------------------------

function client(call) {
  const timeout = call.timeout_s * 1000;
  return new OpenAI({ baseURL: call.base_url, apiKey: call.api_key, timeout, maxRetries: 0 });
}

function options(call) {
  return { signal: AbortSignal.timeout(call.timeout_s * 1000) };
}

/** Return the body of a request; parameters go out as they are, also those that the types do not name. */
function body(call) {
  const isChat = call.api === "chat";
  const own = isChat ? call.tools : call.tools.map((tool) => ({ type: "function", ...tool.function }));
  return {
    model: call.model,
    ...call.params,
    ...(isChat ? { messages: call.messages.map(turn) } : { input: [...items(call)] }),
    ...(own.length > 0 ? { tools: [...(call.params.tools ?? []), ...own] } : {}),
  };
}

function turn(message) {
  return message.extras?.[NAMESPACE]?.message ?? message;
}

function* items(call) {
  const calls = new Map(); // what was called, by id: the type of the item, and the program that made the call
  for (const message of call.messages) {
    const output = message.extras?.[NAMESPACE]?.output;
    if (output) {
      for (const { call_id: id, type, caller } of output) calls.set(id, { type, caller });
      yield* output;
    } else if (message.role === "tool") {
      yield result(message, calls.get(message.tool_call_id) ?? { type: "function_call" });
    } else {
      if (message.content?.length > 0) yield { role: message.role, content: message.content };
      for (const made of message.tool_calls ?? []) {
        const type = made.type === "custom" ? "custom_tool_call" : "function_call";
        calls.set(made.id, { type });
        yield { type, call_id: made.id, ...made[made.type] };
      }
    }
  }
}

/** Return what goes back for a call, in the documented form for its type. */
function result({ tool_call_id: id, content }, { type, caller }) {
  const fromProgram = caller?.type === "program" ? { caller } : {};
  return { ...output(type, content), ...fromProgram, call_id: id };
}

function output(type, content) {
  switch (type) {
    case "computer_call":
      throw new NotImplementedError("a computer is answered with a screenshot, which the call does not have");
    case "tool_search_call":
      return { type: "tool_search_output", execution: "client", tools: JSON.parse(content) };
    case "shell_call": {
      const ended = { stdout: content, stderr: "", outcome: { type: "exit", exit_code: 0 } };
      return { type: "shell_call_output", output: [ended] };
    }
    case "apply_patch_call":
      return { type: "apply_patch_call_output", status: "completed", output: content };
    default:
      return { type: `${type}_output`, output: content };
  }
}

// -- What is answered ------------------------------------------------------------------------------------------------

async function complete(call) {
  if (call.api === "chat") {
    return ofCompletion(await client(call).chat.completions.create(body(call), options(call)), call);
  }
  return ofResponse(await client(call).responses.create(body(call), options(call)), call);
}

async function* stream(call) {
  yield* call.api === "chat" ? chunks(call) : events(call);
}

async function* chunks(call) {
  const runner = client(call).chat.completions.stream(body(call), options(call));
  for await (const chunk of runner) {
    for (const { index, delta } of chunk.choices) {
      if (index === 0) yield* deltas(delta);
    }
  }
  yield { event_type: "response.completed", ...ofCompletion(await runner.finalChatCompletion(), call) };
}

function ofCompletion(completion, call) {
  const response = answer(completion, call);
  return { response: { ...response, extras: { [NAMESPACE]: completion.choices[0] } }, native: completion };
}

async function* events(call) {
  const runner = client(call).responses.stream(body(call), options(call));
  const calls = new Map(); // by the place of the item: the number of the call, and whether a piece of it came
  const own = (event) => {
    if (!calls.has(event.output_index)) calls.set(event.output_index, { index: calls.size, hasPiece: false });
    return calls.get(event.output_index);
  };
  for await (const event of runner) {
    const { type, item } = event;
    if (type === TEXT) yield { event_type: TEXT, delta: event.delta };
    else if (type === "response.reasoning_summary_text.delta" || type === "response.reasoning_text.delta") {
      yield { event_type: "response.reasoning.delta", delta: event.delta };
    } else if (type === "response.output_item.added" || type === "response.output_item.done") {
      if (item.type in CALLS) {
        const made = own(event);
        const delta = made.hasPiece ? null : item[CALLS[item.type]];
        made.hasPiece ||= Boolean(delta);
        yield { event_type: ARGUMENTS, delta, tool_call: { index: made.index, id: item.call_id, name: item.name } };
      } else if (type === "response.output_item.done" && isOwnCall(item)) {
        const tool_call = { index: own(event).index, id: item.call_id, name: item.type };
        yield { event_type: ARGUMENTS, delta: given(item), tool_call };
      }
    } else if (type === ARGUMENTS || type === "response.custom_tool_call_input.delta") {
      const made = own(event);
      made.hasPiece ||= Boolean(event.delta);
      yield { event_type: ARGUMENTS, delta: event.delta, tool_call: { index: made.index } };
    } else if (type === "response.failed" && event.response.error) {
      const { code, message } = event.response.error;
      yield { event_type: "response.error", error: { error_type: code, message } };
      return;
    }
  }
  yield { event_type: "response.completed", ...ofResponse(await runner.finalResponse(), call) };
}

function ofResponse(native, call) {
  const response = {
    id: native.id,
    provider: call.provider,
    model: native.model,
    created: time(native.created_at),
    message: native.output_text,
    segments: [],
    annotations: [],
    attachments: [],
    tool_calls: [],
    usage: counts(native.usage),
    extras: { [NAMESPACE]: { output: native.output } },
  };
  let position = 0;
  for (const item of native.output) {
    for (const { annotations = [], ...segment } of segments(item)) {
      const size = length(segment.content);
      response.annotations.push(...annotations.map((each) => annotation(each, position, size)));
      if (segment.type === "text") position += size;
      response.segments.push(segment);
    }
    if (item.type in CALLS) {
      const type = item.type === "custom_tool_call" ? "custom" : "function";
      response.tool_calls.push({ id: item.call_id, type, name: item.name, arguments: given(item) });
    } else if (isOwnCall(item)) {
      response.tool_calls.push({ id: item.call_id, name: item.type, arguments: given(item) });
    }
    if (item.type === "image_generation_call" && item.result) {
      const type = `image/${item.output_format ?? "png"}`;
      response.attachments.push({ id: item.id, type, data: item.result, text_index: position });
    }
  }
  const thoughts = response.segments.filter(({ type }) => type === "reasoning").map(({ content }) => content);
  response.reasoning = thoughts.join("") || null;
  const isRefused = response.segments.some(({ metadata }) => metadata?.kind === "refusal");
  response.raw_finish_reason = native.incomplete_details?.reason ?? native.status ?? null;
  response.finish_reason = isRefused ? "content_filter" : (FINISH[response.raw_finish_reason] ?? null);
  return { response, native };
}

function isOwnCall(item) {
  const runsElsewhere = item.environment?.type === "container_reference";
  return item.type in OWN_CALLS && !runsElsewhere && (item.execution ?? "client") === "client";
}

/** Return the arguments of a call, as text. */
function given(item) {
  if (item.type in CALLS) return item[CALLS[item.type]] || "{}";
  return JSON.stringify(OWN_CALLS[item.type].map((name) => item[name]).find(Boolean) ?? {});
}

function counts(usage) {
  if (!usage) return null;
  const { input_tokens_details: asked, output_tokens_details: answered } = usage;
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    cached_tokens: asked?.cached_tokens ?? null,
    cache_write_tokens: asked?.cache_write_tokens ?? null,
    reasoning_tokens: answered?.reasoning_tokens ?? null,
    raw: usage,
  };
}

function* segments(item) {
  if (item.type === "message") {
    for (const part of item.content) {
      if (part.type === "output_text") yield { type: "text", content: part.text, annotations: part.annotations ?? [] };
      else if (part.type === "refusal") {
        yield { type: "other", content: part.refusal, metadata: { kind: "refusal" } };
      } else yield { type: "other", content: "", metadata: part };
    }
  } else if (item.type === "reasoning") {
    const texts = [...(item.summary ?? []), ...(item.content ?? [])].map(({ text }) => text);
    const parts = (texts.length > 0 || !item.encrypted_content ? texts : [""]).map((content) => ({
      type: "reasoning",
      content,
    }));
    if (item.encrypted_content) parts.at(-1).metadata = { encrypted: item.encrypted_content };
    yield* parts;
  } else if (item.type in CALLS) yield { type: "tool_call", content: item[CALLS[item.type]] };
  else if (isOwnCall(item)) yield { type: "tool_call", content: given(item) };
  else if (HOSTED.has(item.type)) {
    const { result: _, ...metadata } = item; // an image is an attachment
    yield { type: "tool_call", content: "", metadata: { server_executed: true, ...metadata } };
  } else yield { type: "other", content: "", metadata: item };
}

// -- What goes wrong -------------------------------------------------------------------------------------------------

function reported(error) {
  return {
    error_type: inStream(error) || error?.constructor?.name,
    message: error?.message,
    status_code: error?.status,
    headers: error?.headers ? Object.fromEntries(error.headers) : undefined,
    original_error: String(error?.cause ?? error),
    extra_context: { code: error?.code, param: error?.param, request_id: error?.requestID },
  };
}

/** Return the type of an error in a stream, or its code if the type is only `error`; null for errors with a status. */
function inStream(error) {
  if (error?.constructor !== APIError || error.status) return null;
  return error.type === "error" ? error.code : error.type;
}

await serve({ description: DESCRIPTION, complete, stream, reported });
