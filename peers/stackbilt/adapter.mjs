/**
 * @stackbilt/llm-providers behind the line protocol.
 *
 *     npm ci --ignore-scripts --prefix peers/stackbilt
 *     llm-conformance run --adapter="cmd:node peers/stackbilt/adapter.mjs" --deviations=peers/stackbilt/deviations.toml
 *
 * It shows what the provider classes give their caller, and mends nothing. Their Cloudflare class wants a Worker's
 * binding, which cannot be pointed anywhere, and NVIDIA is no provider of the suite.
 */

import { readFileSync } from "node:fs";

import {
  AnthropicProvider,
  CerebrasProvider,
  ConfigurationError,
  defaultCircuitBreakerManager,
  GroqProvider,
  OpenAIProvider,
} from "@stackbilt/llm-providers";

import { NotImplementedError, serve } from "../program.mjs";

const NAMESPACE = "stackbilt";
const { name, version } = JSON.parse(
  readFileSync(new URL("node_modules/@stackbilt/llm-providers/package.json", import.meta.url), "utf8"),
);

const APIS = {
  "anthropic:messages": { Provider: AnthropicProvider, path: "/v1/messages" },
  "cerebras:chat": { Provider: CerebrasProvider, path: "/chat/completions" },
  "groq:chat": { Provider: GroqProvider, path: "/chat/completions" },
  "openai:chat": { Provider: OpenAIProvider, path: "/chat/completions" },
};

const DESCRIPTION = {
  name,
  version,
  providers: Object.keys(APIS),
  capabilities: [
    "streaming", "reasoning", "tools", "round_trip", "errors",
    "lost_connections", "unreadable_bodies", "incomplete_streams",
    "provenance", "raw_finish", "usage_details", "error_details",
  ],
  excluded_inputs: { "think tags": "the request asks for them in the text: https://inference-docs.cerebras.ai/capabilities/reasoning#reasoning-format" },
  methods: ["complete", "stream"],
  errors: { SchemaDriftError: "ValidationError" },
};

const FINISH = new Set(["stop", "length", "tool_calls", "content_filter"]);

// Where a provider class leaves a stream's token counts for the library's factory.
const STREAM_USAGE = Symbol.for("@stackbilt/llm-providers.streamUsage");

// -- What is asked ---------------------------------------------------------------------------------------------------

function provider(call) {
  const { Provider, path } = APIS[`${call.provider}:${call.api}`];
  // The breakers of all clients of a process are one; a call is to be judged by itself.
  defaultCircuitBreakerManager.resetAll();
  const made = new Provider({
    apiKey: call.api_key,
    baseUrl: (call.base_url + call.path).slice(0, -path.length),
    timeout: call.timeout_s * 1000,
    // The time limit holds for each of its attempts (4), not for the call.
    maxRetries: 0,
  });
  made.models.push(call.model); // it refuses models that are newer than its list
  return made;
}

// The parameters for which the library has a field; it asks for the counts of streams by itself.
const NAMED = new Set(["tool_choice", "temperature", "max_tokens", "seed", "response_format", "stream_options"]);
// Of those with a field, `reasoning` reaches Cerebras alone, and `maxTokens` goes to OpenAI as `max_tokens`.
const NAMED_BY_PROVIDER = {
  cerebras: new Set(["max_completion_tokens", "reasoning_effort", "reasoning_format", "clear_thinking"]),
  groq: new Set(["max_completion_tokens"]),
};

function request(call) {
  const { params } = call;
  const unnamed = Object.keys(params).find(
    (name) => !NAMED.has(name) && !NAMED_BY_PROVIDER[call.provider]?.has(name),
  );
  if (unnamed) throw new NotImplementedError(`\`${unnamed}\`, which no field of a request asks for`);
  const tools = call.tools.length > 0 ? call.tools : undefined;
  return {
    model: call.model,
    messages: messages(call),
    tools,
    toolChoice: tools && toolChoice(params.tool_choice),
    temperature: params.temperature,
    maxTokens: params.max_tokens ?? params.max_completion_tokens,
    seed: params.seed,
    response_format: params.response_format,
    reasoning: {
      effort: params.reasoning_effort,
      format: params.reasoning_format,
      clearThinking: params.clear_thinking,
    },
    cache: isCached(call) ? { strategy: "provider-prefix", cacheablePrefix: "system" } : undefined,
  };
}

/** Return a tool choice, given in OpenAI's or Claude's form, in the library's form, which is OpenAI's. */
function toolChoice(choice) {
  if (choice === undefined || typeof choice === "string" || choice.function) return choice;
  const { type, name, ...other } = choice;
  const [unnamed] = Object.keys(other);
  if (unnamed) throw new NotImplementedError(`\`${unnamed}\` of a tool choice, which the library has no field for`);
  return type === "tool" ? { type: "function", function: { name } } : { any: "required" }[type] ?? type;
}

function isCached(call) {
  return call.messages.some(({ role, content }) => role === "system" && content.some?.((part) => part.cache_control));
}

/** Return a conversation as the library's messages; the results of an answer's calls are one message there. */
function messages(call) {
  const result = [];
  for (const message of call.messages) {
    const last = result.at(-1);
    if (message.role !== "tool") result.push(message.extras?.[NAMESPACE]?.message ?? converted(message));
    else if (last?.toolResults) last.toolResults.push(toolResult(message));
    else result.push({ role: "user", content: "", toolResults: [toolResult(message)] });
  }
  return result;
}

function toolResult({ tool_call_id: id, content: output }) {
  return { id, output };
}

/** Return a message as the library has them: content is text, and there is no place for documents. */
function converted({ role, content, tool_calls: toolCalls }) {
  const parts = Array.isArray(content) ? content : [{ type: "text", text: content ?? "" }];
  const other = parts.find(({ type }) => type !== "text");
  if (other) throw new NotImplementedError(`a part of the type ${other.type} in a message`);
  const text = parts.map((part) => part.text).join("");
  return { role, content: text, toolCalls };
}

// -- What is answered ------------------------------------------------------------------------------------------------

async function complete(call) {
  const result = await provider(call).generateResponse(request(call));
  const created = result.metadata?.created;
  const response = {
    id: result.id,
    created: created ? new Date(created * 1000).toISOString() : null,
    provider: result.provider,
    model: result.model,
    message: result.message,
    reasoning: result.reasoning ?? null,
    tool_calls: (result.toolCalls ?? []).map(({ id, type, function: called }) => ({ id, type, ...called })),
    finish_reason: FINISH.has(result.finishReason) ? result.finishReason : null,
    // Only Anthropic's words are translated.
    raw_finish_reason: call.provider === "anthropic" ? null : result.finishReason,
    usage: usage(result.usage),
    latency_ms: result.responseTime,
    cost_usd: result.usage.cost,
    extras: {
      [NAMESPACE]: {
        message: { role: "assistant", content: result.message, toolCalls: result.toolCalls },
        metadata: result.metadata,
      },
    },
  };
  return { response, native: result };
}

/** Give a streamed answer; the library streams texts, and has nothing else to say of it but its token counts. */
async function* stream(call) {
  const texts = await provider(call).streamResponse(request(call));
  const native = [];
  let message = "";
  for await (const delta of texts) {
    native.push(delta);
    message += delta;
    yield { event_type: "response.output_text.delta", delta };
  }
  const counts = await texts[STREAM_USAGE];
  yield {
    event_type: "response.completed",
    native: [...native, counts],
    response: {
      provider: call.provider,
      model: call.model,
      message,
      finish_reason: null,
      usage: usage(counts),
      extras: { [NAMESPACE]: { message: { role: "assistant", content: message } } },
    },
  };
}

function usage(counts) {
  return counts
    ? {
        prompt_tokens: counts.inputTokens,
        completion_tokens: counts.outputTokens,
        total_tokens: counts.totalTokens,
        cached_tokens: counts.cachedInputTokens ?? counts.cacheReadInputTokens ?? null,
        cache_write_tokens: counts.cacheWriteInputTokens ?? null,
      }
    : null;
}

// -- What goes wrong -------------------------------------------------------------------------------------------------

function reported(error) {
  // Before it sends anything, the library refuses what its lists of models and values do not have.
  if (error instanceof ConfigurationError) return { error_type: "NotImplementedError", message: error.message };
  return {
    error_type: error.constructor.name, // their `name` is that of the base class
    message: error.message,
    provider: error.provider,
    status_code: error.statusCode,
    original_error: String(error.cause ?? error),
  };
}

await serve({ description: DESCRIPTION, complete, stream, reported });
