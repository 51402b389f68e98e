/**
 * LangChain's `@langchain/openai` for Node behind the line protocol.
 *
 *     npm ci --ignore-scripts --prefix peers/langchain-node
 *     llm-conformance run --adapter="cmd:node peers/langchain-node/adapter.mjs" --deviations=peers/langchain-node/deviations.toml
 *
 * The shim asks `ChatOpenAI` by `bindTools`, `invoke` and `stream`, and joins the chunks of a stream by `concat`. Of a
 * message it reads `text`, `contentBlocks`, `content` (for citations), `tool_calls`, `invalid_tool_calls`,
 * `usage_metadata`, `response_metadata`, and `additional_kwargs` with `audio`, `refusal`, `function_call` and
 * `tool_outputs`. An earlier answer goes back as the message that it was, in the form that LangChain gives it as JSON;
 * the other messages are objects with a role, which the models take. The result of a custom tool is a `ToolMessage`
 * with `customTool`; results of the shell, of patches and of the search for tools have no form that the models take.
 * `ChatOpenAI` asks some models by the Responses API alone; in chat completions they are asked by
 * `ChatOpenAICompletions`, on which it is built.
 *
 * The library has no finish reason of its own, only the provider's word. `timeout` of a call holds for all of it.
 * Servers that only look like OpenAI's are left out, as in the shim for Python.
 */

import { readFileSync } from "node:fs";

import { ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI, ChatOpenAICompletions } from "@langchain/openai";

import { deltas, FINISH as CHAT_FINISH, length, time } from "../chat.mjs";
import { NotImplementedError, serve } from "../program.mjs";

const NAMESPACE = "langchain-node";
const { version } = JSON.parse(
  readFileSync(new URL("node_modules/@langchain/openai/package.json", import.meta.url), "utf8"),
);

const DESCRIPTION = {
  name: NAMESPACE,
  version,
  providers: ["openai:chat", "openai:responses"],
  capabilities: [
    "streaming", "reasoning", "segments", "annotations", "audio", "tools", "round_trip", "errors",
    "provenance", "raw_finish", "usage_details", "error_details",
  ],
  methods: ["complete", "stream"],
  // The library does not keep the text of arguments. The shim writes compact JSON, so only compact texts are compared.
  excluded_inputs: Object.fromEntries(
    ["spaced", "indented"].map((way) => [
      `text of arguments: ${way}`,
      "`args` of a tool call is an object: https://unpkg.com/browse/@langchain/core@1.4.0/dist/messages/tool.d.ts#L106",
    ]),
  ),
  errors: {
    APIConnectionError: "ServiceUnavailableError",
    APIError: "LLMError", // an error in a stream, which has no status
    // `ResponseError.code` of a response that failed, and `type` or `code` of an error in a stream
    server_error: "ServiceUnavailableError",
    rate_limit_exceeded: "RateLimitError",
    insufficient_quota: "RateLimitError",
    invalid_request_error: "InvalidRequestError",
    invalid_prompt: "InvalidRequestError",
    vector_store_timeout: "TimeoutError",
  },
};

const FINISH = {
  ...CHAT_FINISH,
  completed: "stop",
  max_output_tokens: "length",
  failed: "error",
};

/** Values of `audio.format` in a request. The answer does not say which one it has. */
const AUDIO = {
  wav: "audio/wav",
  mp3: "audio/mpeg",
  flac: "audio/flac",
  opus: "audio/opus",
  aac: "audio/aac",
  pcm16: "audio/pcm",
};

// Calls of tools that OpenAI defines and the client runs, with the field that says what to do.
const OWN_CALLS = {
  local_shell_call: "action",
  shell_call: "action",
  apply_patch_call: "operation",
  tool_search_call: "arguments",
};

// The name that the library gives to a computer's action, which is in `args.action`.
const COMPUTER = "computer_use";

// -- What is asked ---------------------------------------------------------------------------------------------------

// The library's names by those on the wire: settings of the model, and options of one call.
const SETTINGS = {
  max_tokens: "maxTokens",
  max_completion_tokens: "maxTokens",
  max_output_tokens: "maxTokens",
  temperature: "temperature",
  top_p: "topP",
  frequency_penalty: "frequencyPenalty",
  presence_penalty: "presencePenalty",
  n: "n",
  logit_bias: "logitBias",
  logprobs: "logprobs",
  top_logprobs: "topLogprobs",
  user: "user",
  stop: "stop",
  audio: "audio",
  modalities: "modalities",
  reasoning: "reasoning",
  service_tier: "service_tier",
  verbosity: "verbosity",
};
const OPTIONS = {
  seed: "seed",
  response_format: "response_format",
  tool_choice: "tool_choice",
  parallel_tool_calls: "parallel_tool_calls",
  prediction: "prediction",
  stream_options: "stream_options",
  functions: "functions",
  function_call: "function_call",
  include: "include",
  previous_response_id: "previous_response_id",
  truncation: "truncation",
  text: "text",
};
// Models that `ChatOpenAI` asks by the Responses API alone, and those for which `maxTokens` is `max_completion_tokens`.
const RESPONSES_ALONE = /codex|gpt-5\.6|gpt-5\.[245]-pro/;
const REASONING = /^(o\d|gpt-[56](?!-chat))/;

/** Return the model for a call, with the options of the call. */
function asked(call) {
  const isChat = call.api === "chat";
  const { tools: own = [], ...params } = call.params;
  if (isChat && own.length > 0) throw new NotImplementedError("tools of another kind than functions in chat completions");
  if (params.background) throw new NotImplementedError("an answer in the background, which is fetched later");
  const settings = {};
  const options = { timeout: call.timeout_s * 1000 };
  const modelKwargs = {}; // documented for what the library has no name for
  for (const [name, value] of Object.entries(params)) {
    if (name === "reasoning_effort") settings.reasoning = { effort: value };
    else if (name === "max_completion_tokens" && !REASONING.test(call.model)) modelKwargs[name] = value;
    else if (name in SETTINGS) settings[SETTINGS[name]] = value;
    else if (name === "tool_choice" && value.type === "function") options.tool_choice = tool(value);
    else if (name in OPTIONS) options[OPTIONS[name]] = value;
    else modelKwargs[name] = value;
  }
  const Model = isChat && RESPONSES_ALONE.test(call.model) ? ChatOpenAICompletions : ChatOpenAI;
  const model = new Model({
    ...settings,
    model: call.model,
    apiKey: call.api_key,
    configuration: { baseURL: call.base_url },
    maxRetries: 0, // the time limit holds for all attempts
    streamUsage: false, // it would be asked for in every stream; a call says so itself
    useResponsesApi: !isChat,
    modelKwargs,
  });
  const tools = [...own.map(tool), ...call.tools];
  return { model: tools.length > 0 ? model.bindTools(tools) : model, options };
}

/** Return a tool or a tool choice in the library's form. For a function, this is the form of chat completions. */
function tool({ type, ...rest }) {
  if (type !== "function" || rest.function) return { type, ...rest };
  const { name, description, parameters, ...more } = rest;
  return { type, function: { name, description, parameters }, ...more };
}

function messages(call) {
  const kinds = new Map(); // the types of calls that are not of functions, by id
  return call.messages.map((message) => {
    const { native, own } = message.extras?.[NAMESPACE] ?? {};
    for (const [id, kind] of Object.entries(own ?? {})) kinds.set(id, kind);
    if (native) return native;
    if (message.role === "assistant" && (message.tool_calls ?? []).some(({ type }) => type === "custom")) {
      throw new NotImplementedError("an earlier call of a custom tool, which has no form in an object with a role");
    }
    const kind = kinds.get(message.tool_call_id);
    if (message.role !== "tool" || !kind) return { ...message, content: message.content ?? "" };
    if (kind !== "custom") throw new NotImplementedError(`the result of ${kind}`);
    const { content, tool_call_id } = message;
    return new ToolMessage({ content, tool_call_id, additional_kwargs: { customTool: true } });
  });
}

// -- What is answered ------------------------------------------------------------------------------------------------

async function complete(call) {
  const { model, options } = asked(call);
  const message = await model.invoke(messages(call), options);
  return { response: response(message, call), native: message };
}

async function* stream(call) {
  const { model, options } = asked(call);
  const numbers = new Map(); // of the calls, by their place on the wire or their id
  const numbered = (key) => numbers.get(key) ?? numbers.set(key, numbers.size).get(key);
  let whole;
  for await (const chunk of await model.stream(messages(call), options)) {
    whole = whole === undefined ? chunk : whole.concat(chunk);
    yield* events(chunk, numbered);
  }
  // Without a chunk there is no message, and the library reports no error.
  if (whole) yield { event_type: "response.completed", response: response(whole, call), native: whole };
}

function* events(chunk, numbered) {
  for (const block of chunk.contentBlocks) {
    if (block.type === "text" && block.text) yield { event_type: "response.output_text.delta", delta: block.text };
    else if (block.type === "reasoning" && block.reasoning) {
      yield { event_type: "response.reasoning.delta", delta: block.reasoning };
    }
  }
  for (const { index, id, name, args } of chunk.tool_call_chunks ?? []) {
    const tool_call = { index: numbered(index), id: id || null, name };
    yield { event_type: "response.function_call_arguments.delta", delta: args, tool_call };
  }
  for (const item of ownItems(chunk)) {
    const tool_call = { index: numbered(item.call_id), id: item.call_id, name: item.type };
    yield { event_type: "response.function_call_arguments.delta", delta: given(item), tool_call };
  }
  const { function_call, audio } = chunk.additional_kwargs;
  yield* deltas({ function_call, audio });
}

function response(message, call) {
  const { additional_kwargs: more, response_metadata: said } = message;
  const refusal = more.refusal || null;
  const blocks = message.contentBlocks;
  const segments = [...blocks.flatMap((block) => segment(block, message)), ...invalidSegments(message)];
  const thoughts = segments.filter(({ type }) => type === "reasoning").map(({ content }) => content);
  const raw = said.incomplete_details?.reason ?? said.finish_reason ?? said.status ?? null;
  return {
    id: message.id,
    provider: call.provider,
    model: said.model_name ?? call.model, // it has to be there
    created: time(said.created_at),
    message: message.text,
    reasoning: more.reasoning_content || thoughts.join("") || null,
    segments,
    annotations: annotations(message),
    attachments: attachments(message, call),
    tool_calls: toolCalls(message),
    usage: counts(message.usage_metadata),
    finish_reason: refusal ? "content_filter" : (FINISH[raw] ?? null),
    raw_finish_reason: raw,
    extras: { [NAMESPACE]: { native: message, own: own(message) } },
  };
}

/** Return the ids of the custom tools' calls: a plain call says so itself, in a stream a piece of it does. */
function customIds({ tool_calls: calls, tool_call_chunks: pieces = [] }) {
  return new Set([...calls, ...pieces].filter(({ isCustomTool }) => isCustomTool).map(({ id }) => id));
}

/** Return the kinds of the calls that are not of functions, by id. */
function own(message) {
  return Object.fromEntries([
    ...[...customIds(message)].map((id) => [id, "custom"]),
    ...message.tool_calls.filter(({ name }) => name === COMPUTER).map(({ id }) => [id, "a computer's action"]),
    ...ownItems(message).map(({ call_id: id, type }) => [id, type]),
    ...(message.response_metadata.output ?? [])
      .filter(({ caller }) => caller?.type === "program")
      .map(({ call_id: id }) => [id, "a call that a program of OpenAI's made"]),
  ]);
}

function ownItems({ additional_kwargs: { tool_outputs: items = [] } }) {
  return items.filter(
    ({ type, environment, execution }) =>
      type in OWN_CALLS && environment?.type !== "container_reference" && (execution ?? "client") === "client",
  );
}

function given(item) {
  return JSON.stringify(item[OWN_CALLS[item.type]] ?? {});
}

function toolCalls(message) {
  const custom = customIds(message);
  const { function_call: old } = message.additional_kwargs;
  return [
    ...message.tool_calls.map(({ id, name, args }) =>
      custom.has(id)
        ? { id, type: "custom", name, arguments: args.input }
        : { id: id || null, type: "function", name, arguments: JSON.stringify(name === COMPUTER ? (args.action ?? {}) : args) },
    ),
    ...message.invalid_tool_calls.map(({ id, name, args }) => ({ id: id || null, type: "function", name, arguments: args })),
    ...ownItems(message).map((item) => ({ id: item.call_id, name: item.type, arguments: given(item) })),
    ...(old ? [{ id: null, type: "function", name: old.name, arguments: old.arguments }] : []),
  ];
}

function invalidSegments({ invalid_tool_calls: calls, additional_kwargs: { function_call: old } }) {
  return [...calls, ...(old ? [old] : [])].map(() => ({ type: "tool_call", content: "" }));
}

/** Return the segment of a content block; what repeats a call or a hosted call has none. */
function segment(block, message) {
  switch (block.type) {
    case "text":
      return [{ type: "text", content: block.text }];
    case "reasoning":
      return [{ type: "reasoning", content: block.reasoning, metadata: { encrypted: block.encrypted_content } }];
    case "refusal":
      return [{ type: "other", content: block.refusal, metadata: { kind: "refusal" } }];
    case "tool_call":
      return [{ type: "tool_call", content: "" }];
    case "server_tool_call": {
      const isOwn = ownItems(message).some(({ id }) => id === block.id);
      return [{ type: "tool_call", content: "", metadata: { server_executed: !isOwn, ...block } }];
    }
    case "server_tool_call_result":
      // OpenAI has a hosted call and its result in one item, but for the search for tools.
      return block.extras?.name === "tool_search" ? [{ type: "other", content: "", metadata: block } ] : [];
    case "image":
      return []; // its item follows
    case "non_standard":
      return item(block.value, message);
    default:
      return [{ type: "other", content: "", metadata: block }];
  }
}

function item(native, message) {
  const { type, call_id: id, result: _, ...metadata } = native; // an image is an attachment
  if (message.tool_calls.some((each) => each.id === id)) return [];
  if (ownItems(message).includes(native)) return [{ type: "tool_call", content: given(native) }];
  const isHosted = ["image_generation_call", "shell_call", "program"].includes(type);
  return [{ type: isHosted ? "tool_call" : "other", content: "", metadata: { server_executed: isHosted, type, ...metadata } }];
}

// The names of fields of citations on the wire, by the type and the name in the library.
const CITATIONS = {
  file_citation: { title: "filename", startIndex: "index" },
  container_file_citation: { title: "filename" },
  file_path: { startIndex: "index" },
};

function annotations({ content }) {
  const result = [];
  let before = 0;
  for (const block of typeof content === "string" ? [] : content) {
    if (block.type !== "text") continue;
    for (const { type, source, value, ...fields } of block.annotations ?? []) {
      const names = CITATIONS[source] ?? {};
      const renamed = Object.entries(fields).map(([name, each]) => [names[name] ?? name, each]);
      const { startIndex: start, endIndex: end, ...data } = Object.fromEntries(renamed);
      const isPlaced = start !== undefined && end !== undefined;
      result.push({
        start: isPlaced ? before + start : null,
        end: isPlaced ? before + end : null,
        data: type === "citation" ? { type: source, ...data } : value,
      });
    }
    before += length(block.text);
  }
  return result;
}

function attachments({ content, additional_kwargs: { audio } }, call) {
  const result = [];
  if (audio) result.push({ type: AUDIO[call.params.audio?.format] ?? null, ...audio });
  let before = 0;
  for (const block of typeof content === "string" ? [] : content) {
    if (block.type === "text") before += length(block.text);
    else if (block.type === "image") {
      result.push({ id: block.id, type: block.mimeType, data: block.data, text_index: before });
    }
  }
  return result;
}

function counts(usage) {
  const { input_tokens: asked, output_tokens: answered, total_tokens: total } = usage ?? {};
  if ([asked, answered, total].every((count) => count === undefined)) return null;
  const { input_token_details: before, output_token_details: after } = usage;
  return {
    prompt_tokens: asked ?? null,
    completion_tokens: answered ?? null,
    total_tokens: total ?? null,
    cached_tokens: before?.cache_read ?? null,
    cache_write_tokens: before?.cache_creation ?? null,
    reasoning_tokens: after?.reasoning ?? null,
    audio_prompt_tokens: before?.audio ?? null,
    audio_completion_tokens: after?.audio ?? null,
    raw: usage,
  };
}

// -- What goes wrong -------------------------------------------------------------------------------------------------

function reported(error) {
  return {
    error_type: inStream(error) || errorType(error),
    message: error?.message,
    status_code: error?.status ?? error?.cause?.status,
    headers: error?.headers ? Object.fromEntries(error.headers) : undefined,
    original_error: String(error?.cause ?? error),
    extra_context: { code: error?.code, lc_error_code: error?.lc_error_code },
  };
}

/** Return an error's name, or its class. */
function errorType(error) {
  // What the SDK calls APIUserAbortError gets this name from the library; here the time limit alone aborts.
  if (error?.constructor === Error && error.name === "AbortError") return "TimeoutError";
  return error?.name === "Error" ? error.constructor.name : error?.name;
}

/** Return the type of an error in a stream, or its code if the type is only `error`; null for errors with a status. */
function inStream(error) {
  if (error?.constructor?.name !== "APIError" || error.status) return null;
  return error.type === "error" ? error.code : error.type;
}

await serve({ description: DESCRIPTION, complete, stream, reported });
