/**
 * The AI SDK (`ai` with its OpenAI, Anthropic and DeepSeek providers) behind the line protocol.
 *
 *     npm ci --ignore-scripts --prefix peers/vercel-ai
 *     llm-conformance run --adapter="cmd:node peers/vercel-ai/adapter.mjs" --deviations=peers/vercel-ai/deviations.toml
 *
 * It shows what generateText and streamText give their caller, and mends nothing.
 */

import { readFileSync } from "node:fs";

import { createAnthropic } from "@ai-sdk/anthropic";
import { createDeepSeek } from "@ai-sdk/deepseek";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText, jsonSchema, RetryError, streamText, tool } from "ai";

import { NotImplementedError, serve } from "../program.mjs";

const NAMESPACE = "vercel-ai";
const { name, version } = JSON.parse(
  readFileSync(new URL("node_modules/ai/package.json", import.meta.url), "utf8"),
);

const APIS = {
  "anthropic:messages": { create: createAnthropic, path: "/messages", model: (client, id) => client(id) },
  "deepseek:chat": { create: createDeepSeek, path: "/chat/completions", model: (client, id) => client(id) },
  "openai:chat": { create: createOpenAI, path: "/chat/completions", model: (client, id) => client.chat(id) },
  "openai:responses": { create: createOpenAI, path: "/responses", model: (client, id) => client.responses(id) },
};

const NO_ANSWER = "AI_APICallErrorWithoutAnswer";

const DESCRIPTION = {
  name,
  version,
  providers: Object.keys(APIS),
  capabilities: [
    "streaming", "reasoning", "segments", "annotations", "tools", "round_trip", "errors", "raw",
    "lost_connections", "unreadable_bodies", "incomplete_streams",
    "provenance", "raw_finish", "usage_details", "error_details",
  ],
  methods: ["complete", "stream"],
  // Plain answers do not keep the text of arguments. The shim writes compact JSON, so only compact texts are compared.
  excluded_inputs: Object.fromEntries(
    ["spaced", "indented"].map((way) => [
      `text of arguments: ${way}`,
      "`input` of a tool call is parsed: https://ai-sdk.dev/docs/ai-sdk-core/tools-and-tool-calling",
    ]),
  ),
  errors: {
    [NO_ANSWER]: "ServiceUnavailableError",
    Interrupted: "ServiceUnavailableError",
    AI_EmptyResponseBodyError: "ValidationError",
    AI_InvalidResponseDataError: "ValidationError",
    AI_JSONParseError: "ValidationError",
    AI_NoOutputGeneratedError: "ValidationError",
    AI_TypeValidationError: "ValidationError",
    // What a provider says amid a stream is handed on as it stands, and known by its type.
    insufficient_quota: "RateLimitError",
    overloaded_error: "ServiceUnavailableError",
    rate_limit_error: "RateLimitError",
    server_error: "ServiceUnavailableError",
  },
};

/** The shim's error for the library's finish reason `interrupted`. */
class Interrupted extends Error {
  name = "Interrupted";
}

const FINISH = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
  error: "error",
};

// -- What is asked ---------------------------------------------------------------------------------------------------

/** Return the parameters of the library's two functions for a call. */
function request(call) {
  const { create, path, model } = APIS[`${call.provider}:${call.api}`];
  const { settings, providerOptions, rest } = named(call);
  const client = create({
    baseURL: (call.base_url + call.path).slice(0, -path.length),
    apiKey: call.api_key,
    // The way that the documentation gives for what has no name in the library: a fetch of one's own.
    fetch: (url, init) => fetch(url, { ...init, body: JSON.stringify({ ...JSON.parse(init.body), ...rest }) }),
  });
  return {
    ...settings,
    model: model(client, call.model),
    messages: messages(call),
    tools: tools(call, client),
    providerOptions: { [call.provider]: providerOptions },
    allowSystemInMessages: true,
    maxRetries: 0, // the time limit holds for each attempt
    timeout: call.timeout_s * 1000,
  };
}

/** Settle which parameters the library has a name for, which are options of its provider, and which are neither. */
function named(call) {
  const settings = {};
  const providerOptions = {};
  const rest = {};
  for (const [key, value] of Object.entries(call.params)) {
    if (["max_tokens", "max_output_tokens"].includes(key)) settings.maxOutputTokens = value;
    else if (["stop", "stop_sequences"].includes(key)) settings.stopSequences = [value].flat();
    else if (["temperature", "top_p", "seed"].includes(key)) settings[camel(key)] = value;
    else if (key === "tool_choice" && value.function) {
      settings.toolChoice = { type: "tool", toolName: value.function.name };
    } else if (key === "thinking") providerOptions.thinking = camelKeys(value);
    else if (key === "reasoning") {
      providerOptions.reasoningEffort = value.effort;
      providerOptions.reasoningSummary = value.summary ?? null; // left out, it would be `detailed`
    } else if (OPTIONS.has(key)) providerOptions[camel(key)] = value;
    else if (key === "tools" && hosted(call)) continue;
    else if (key === "tools") throw new NotImplementedError("tools of another kind than functions in chat completions");
    else if (UNREAD.has(key) || UNREAD.has(`${call.provider} ${key}`)) {
      throw new NotImplementedError(`\`${key}\`, whose answers the library does not read`);
    } else rest[key] = value;
  }
  return { settings, providerOptions, rest };
}

// They change the shape of the answer in a way that the library does not read.
const UNREAD = new Set([
  "n", "functions", "function_call", "audio", "modalities", "background", "openai context_management",
]);

const OPTIONS = new Set([
  "fallbacks", "include", "max_completion_tokens", "parallel_tool_calls", "reasoning_effort", "store",
]);

/** Whether the library has functions for the provider's own tools in this API. */
function hosted(call) {
  return call.api !== "chat";
}

function camel(text) {
  return text.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
}

function camelKeys(value) {
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [camel(key), each]));
}

function tools(call, client) {
  const functions = call.tools.map(({ function: { name, description, parameters } }) => [
    name,
    tool({ description, inputSchema: jsonSchema(parameters ?? { type: "object", properties: {} }) }),
  ]);
  const own = (hosted(call) ? (call.params.tools ?? []) : []).map(({ type, name, ...options }) => [
    name ?? type,
    type === "custom"
      ? client.tools.customTool({ name, ...camelKeys(options) })
      : ownTool(client, type)(ownOptions(options)),
  ]);
  return Object.fromEntries([...own, ...functions]);
}

/**
 * Return the options of a tool in the library's words. The type of an environment is in camel case there, too.
 *
 * An option that is null on the wire is left out: the library has no null for it, and the APIs take both for the same.
 */
function ownOptions({ environment, ...options }) {
  const made = camelKeys(Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null)));
  return environment ? { ...made, environment: { ...camelKeys(environment), type: camel(environment.type) } } : made;
}

/** Return the library's function for a tool that the provider defines. */
function ownTool(client, type) {
  const made = type && client.tools[camel(type)];
  if (!made) throw new NotImplementedError(`a tool of the type ${type}`);
  return made;
}

/** Return a conversation as the library's messages; earlier answers are those that it gave for this purpose. */
function messages(call) {
  const calls = new Map(); // the parts that call tools, by id
  const own = Object.fromEntries((call.params.tools ?? []).map(({ type, name }) => [name ?? type, type]));
  const result = [];
  for (const message of call.messages) {
    const made = message.extras?.[NAMESPACE]?.messages ?? converted(message, calls, own);
    for (const { content } of made) {
      for (const part of Array.isArray(content) ? content : []) {
        if (part.type === "tool-call") calls.set(part.toolCallId, part);
      }
    }
    result.push(...made);
  }
  return result;
}

function converted(message, calls, own) {
  const { role, content } = message;
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  if (role === "system") {
    return parts.map(({ text, cache_control: cacheControl }) => ({
      role,
      content: text,
      providerOptions: { anthropic: cacheControl ? { cacheControl } : {} },
    }));
  }
  if (role === "tool") {
    const id = message.tool_call_id;
    const { toolName, providerOptions } = calls.get(id) ?? {};
    const result = { type: "tool-result", toolCallId: id, toolName, output: toolOutput(content, own[toolName]) };
    // The result of a call that a program of OpenAI's made goes back to that program.
    const caller = providerOptions?.openai?.caller;
    return [{ role, content: [{ ...result, providerOptions: caller ? { openai: { caller } } : undefined }] }];
  }
  if (role === "user") return [{ role, content: parts.flatMap(userPart) }];
  return [{ role, content: [...parts.map(assistantPart), ...(message.tool_calls ?? []).map(callPart)] }];
}

// The outputs of tools that OpenAI defines and the client runs, in the form of the library's own functions.
const OUTPUTS = {
  shell: (stdout) => ({ output: [{ stdout, stderr: "", outcome: { type: "exit", exitCode: 0 } }] }),
  local_shell: (output) => ({ output }),
  apply_patch: (output) => ({ status: "completed", output }),
  tool_search: (tools) => ({ tools: JSON.parse(tools) }),
};

/** Return the output of a tool in the library's form: JSON for OpenAI's tools, a text, or parts that are texts. */
function toolOutput(content, type) {
  if (type in OUTPUTS) return { type: "json", value: OUTPUTS[type](content) };
  if (typeof content === "string") return { type: "text", value: content };
  const other = content.find(({ type }) => type !== "text");
  if (other) throw new NotImplementedError(`a part of the type ${other.type} in the result of a tool`);
  return { type: "content", value: content };
}

const DATA = new Set(["base64", "text"]);

function userPart(part) {
  if (part.type === "text") return [part];
  const { source, type, ...anthropic } = part;
  if (type !== "document" || !DATA.has(source.type)) throw new NotImplementedError(`a part of the type ${type}`);
  const data = source.type === "text" ? Buffer.from(source.data) : source.data;
  return [{ type: "file", mediaType: source.media_type, data, providerOptions: { anthropic } }];
}

function assistantPart(part) {
  if (part.type === "server_tool_use") {
    const { id, name, input } = part;
    return { type: "tool-call", toolCallId: id, toolName: name, input, providerExecuted: true };
  }
  if (part.type === "web_search_tool_result") {
    const output = { type: "json", value: part.content.map(camelKeys) };
    return { type: "tool-result", toolCallId: part.tool_use_id, toolName: "web_search", output };
  }
  return part;
}

function callPart(call) {
  return call.type === "custom"
    ? { type: "tool-call", toolCallId: call.id, toolName: call.custom.name, input: call.custom.input }
    : {
        type: "tool-call",
        toolCallId: call.id,
        toolName: call.function.name,
        input: JSON.parse(call.function.arguments),
      };
}

// -- What is answered ------------------------------------------------------------------------------------------------

async function complete(call) {
  const result = await generateText({ ...request(call), include: { responseBody: true } });
  const fields = await whole(result);
  return { response: response(call, { ...fields, frames: [result.response.body] }), native: kept(fields) };
}

/** Return what a result has, without the bodies that went over the wire. */
function kept({ response: { body, ...response }, ...fields }) {
  return { ...fields, response };
}

async function* stream(call) {
  const result = streamText({ ...request(call), include: { rawChunks: true }, onError: () => {} });
  const frames = [];
  const calls = new Map();
  for await (const part of result.stream) {
    if (part.type === "raw") frames.push(part.rawValue);
    else if (part.type === "error") throw part.error;
    else if (part.type === "abort") throw new DOMException(part.reason ?? "aborted", "TimeoutError");
    else if (part.type === "text-delta") yield { event_type: "response.output_text.delta", delta: part.text };
    else if (part.type === "reasoning-delta") yield { event_type: "response.reasoning.delta", delta: part.text };
    else if (part.type === "tool-input-start" && !part.providerExecuted) {
      calls.set(part.id, { index: calls.size, id: part.id, name: part.toolName, text: "" });
      yield piece(calls.get(part.id));
    } else if (part.type === "tool-input-delta" && calls.has(part.id)) {
      calls.get(part.id).text += part.delta;
      yield piece(calls.get(part.id), part.delta);
    } else if (part.type === "tool-call" && !part.providerExecuted) {
      const { toolCallId: id, toolName: name } = part;
      if (!calls.has(id)) calls.set(id, { index: calls.size, id, name, text: "" });
      if (calls.get(id).text === "") yield piece(calls.get(id), input(part)); // no piece of it came before
    }
  }
  const fields = await whole(result);
  // The documented word for a stream that ended without a completion signal; the answer may be incomplete.
  if (fields.finishReason === "interrupted") throw new Interrupted("the stream was interrupted");
  const answer = response(call, { ...fields, frames, calls });
  if (answer.annotations.length > 0) {
    yield { event_type: "response.annotation.added", annotations: answer.annotations };
  }
  yield { event_type: "response.completed", response: answer, native: kept(fields) };
}

function piece({ index, id, name }, delta) {
  return { event_type: "response.function_call_arguments.delta", delta, tool_call: { index, id, name } };
}

/** Return the fields of a result, which are promises after a stream. */
async function whole(result) {
  const names = ["content", "text", "reasoningText", "files", "toolCalls", "finishReason", "rawFinishReason", "usage"];
  const values = await Promise.all([...names, "response"].map((name) => result[name]));
  return Object.fromEntries([...names, "response"].map((name, index) => [name, values[index]]));
}

function response(call, result) {
  const own = customNames(call);
  return {
    id: result.response.id,
    created: result.response.timestamp.toISOString(),
    provider: call.provider,
    model: result.response.modelId,
    message: result.text,
    reasoning: result.reasoningText || null,
    segments: result.content.flatMap((part, index, parts) =>
      segment(part, call, isLastOfItem(part, parts.slice(index + 1))),
    ),
    annotations: annotations(result.content, call),
    attachments: result.files.map(({ mediaType, base64 }) => ({ type: mediaType, data: base64 })),
    tool_calls: result.toolCalls
      .filter(({ providerExecuted }) => !providerExecuted)
      .map((part) => ({
        id: part.toolCallId,
        type: own.has(part.toolName) ? "custom" : "function",
        name: part.toolName,
        arguments: result.calls?.get(part.toolCallId).text || input(part),
      })),
    finish_reason: FINISH[result.finishReason] ?? null,
    raw_finish_reason: result.rawFinishReason ?? null,
    usage: usage(result.usage),
    raw_events: result.frames,
    extras: { [NAMESPACE]: { messages: result.response.messages } },
  };
}

function customNames(call) {
  return new Set((call.params.tools ?? []).filter(({ type }) => type === "custom").map(({ name }) => name));
}

/**
 * Return a call's arguments as text; the library has parsed them, unless they are free text.
 *
 * Those of OpenAI's shell are the `action` of its item, which the library writes in camel case.
 */
function input(part) {
  if (typeof part.input === "string") return part.input;
  const { action, ...others } = part.input ?? {};
  const isShell = Array.isArray(action?.commands) && Object.keys(others).length === 0;
  return JSON.stringify(isShell ? snakeKeys(action) : part.input);
}

function snakeKeys(value) {
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [snake(key), each]));
}

/** Whether no later part belongs to the same item of OpenAI's; parts of one reasoning item repeat its metadata. */
function isLastOfItem({ type, providerMetadata }, later) {
  const id = providerMetadata?.openai?.itemId;
  return !later.some((part) => id !== undefined && part.type === type && part.providerMetadata?.openai?.itemId === id);
}

function segment(part, call, isLast) {
  const opaque = Object.values(part.providerMetadata ?? {})[0] ?? {};
  if (part.type === "text") return { type: "text", content: part.text };
  if (part.type === "reasoning") {
    const { signature, redactedData: redacted, reasoningEncryptedContent: encrypted } = opaque;
    const metadata = { signature, redacted, encrypted: isLast ? encrypted : null };
    return { type: "reasoning", content: part.text, metadata };
  }
  if (part.type === "tool-call") {
    const metadata = { id: part.toolCallId, name: part.toolName, server_executed: part.providerExecuted };
    return { type: "tool_call", content: part.providerExecuted ? "" : input(part), metadata };
  }
  // With Claude a hosted tool's result is a block of its own; OpenAI has most of them in the item of the call.
  const hasItem = call.provider === "anthropic" || ["shell", "tool_search", "programmatic_tool_calling"].includes(part.toolName);
  if (["tool-result", "tool-error"].includes(part.type) && hasItem) {
    return { type: "other", content: "", metadata: { type: part.type, id: part.toolCallId, output: part.output } };
  }
  if (part.type === "file") return { type: "other", content: "", metadata: { type: "file" } };
  // The mark where a fallback model of Claude's takes over. Other custom parts are no blocks of the answer.
  if (part.kind === "anthropic.fallback") return { type: "other", content: "", metadata: { type: part.kind, ...opaque } };
  return [];
}

/**
 * Return the citations of an answer: those in the metadata of a text, which have a place.
 *
 * Only chat completions have sources without such metadata. Elsewhere a source is the same citation once more, or the
 * result of a search, which nobody cites.
 */
function annotations(content, call) {
  const result = [];
  let before = 0;
  for (const part of content) {
    const { openai, anthropic } = part.providerMetadata ?? {};
    if (part.type === "text") {
      const after = before + [...part.text].length;
      for (const { start_index: start, end_index: end, ...data } of openai?.annotations ?? []) {
        const isSpan = start !== undefined && end !== undefined;
        result.push({ start: isSpan ? before + start : null, end: isSpan ? before + end : null, data });
      }
      for (const data of anthropic?.citations ?? []) result.push({ start: before, end: after, data });
      before = after;
    } else if (part.type === "source" && call.api === "chat") result.push({ start: null, end: null, data: source(part) });
  }
  return result;
}

function source({ url, title, filename, mediaType, providerMetadata }) {
  const own = Object.values(providerMetadata ?? {})[0] ?? {};
  return { url, title, filename, mediaType, ...snakeKeys(own) };
}

function snake(text) {
  return text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function usage({ inputTokens, outputTokens, totalTokens, inputTokenDetails, outputTokenDetails, raw }) {
  if ([inputTokens, outputTokens, totalTokens].every((count) => count === undefined)) return null;
  return {
    prompt_tokens: inputTokens ?? null,
    completion_tokens: outputTokens ?? null,
    total_tokens: totalTokens ?? null,
    cached_tokens: inputTokenDetails.cacheReadTokens ?? null,
    cache_write_tokens: inputTokenDetails.cacheWriteTokens ?? null,
    reasoning_tokens: outputTokenDetails.reasoningTokens ?? null,
    raw: raw ?? {},
  };
}

// -- What goes wrong -------------------------------------------------------------------------------------------------

function reported(error) {
  // Before it sends anything, the library refuses values that it does not know.
  if (error?.name === "AI_InvalidArgumentError") return { error_type: "NotImplementedError", message: error.message };
  const last = RetryError.isInstance(error) ? error.lastError : error;
  return {
    error_type: errorType(last),
    message: error?.message ?? JSON.stringify(error),
    status_code: last?.statusCode,
    original_error: String(last?.cause ?? last),
    extra_context: { headers: last?.responseHeaders },
  };
}

/** Return an error's class. All failed requests have one class; the status and the cause tell them apart. */
function errorType(error) {
  if (!APICallError.isInstance(error)) return error?.name ?? error?.type ?? "Error";
  if (error.statusCode >= 400) return error.name;
  return error.cause?.name?.startsWith("AI_") ? error.cause.name : NO_ANSWER;
}

await serve({ description: DESCRIPTION, complete, stream, reported });
