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
import { createInterface } from "node:readline";

import {
  AnthropicProvider,
  CerebrasProvider,
  defaultCircuitBreakerManager,
  GroqProvider,
  OpenAIProvider,
} from "@stackbilt/llm-providers";

// Standard output belongs to the protocol.
console.log = console.info = console.debug = console.error;

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
    "streaming", "reasoning", "tools", "errors",
    "provenance", "raw_finish", "usage_details", "error_details",
  ],
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

class NotImplementedError extends Error {}

function request(call) {
  const { params } = call;
  if ((params.n ?? 1) > 1) throw new NotImplementedError("several answers, which no field of a request asks for");
  const tools = call.tools.length > 0 ? call.tools : undefined;
  return {
    model: call.model,
    messages: messages(call),
    tools,
    toolChoice: tools && params.tool_choice,
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
  const text = Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : (content ?? "");
  return { role, content: text, toolCalls };
}

// -- What is answered ------------------------------------------------------------------------------------------------

async function complete(call) {
  const result = await provider(call).generateResponse(request(call));
  const created = result.metadata?.created;
  return {
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
}

/** Give a streamed answer; the library streams texts, and has nothing else to say of it but its token counts. */
async function* stream(call) {
  const texts = await provider(call).streamResponse(request(call));
  let message = "";
  for await (const delta of texts) {
    message += delta;
    yield { event_type: "response.output_text.delta", delta };
  }
  yield {
    event_type: "response.completed",
    response: {
      provider: call.provider,
      model: call.model,
      message,
      finish_reason: null,
      usage: usage(await texts[STREAM_USAGE]),
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
  return {
    error_type: error.constructor.name, // their `name` is that of the base class
    message: error.message,
    provider: error.provider,
    status_code: error.statusCode,
    original_error: String(error.cause ?? error),
  };
}

// -- The protocol ----------------------------------------------------------------------------------------------------

async function* answers({ op, call }) {
  if (op === "describe") yield DESCRIPTION;
  else if (op === "complete") yield { response: await complete(call) };
  else {
    for await (const event of stream(call)) yield { event };
    yield { done: true };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    for await (const answer of answers(JSON.parse(line))) process.stdout.write(`${JSON.stringify(answer)}\n`);
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: reported(error) })}\n`);
  }
}
