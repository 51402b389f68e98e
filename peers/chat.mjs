/**
 * Chat completions as OpenAI's SDK returns them, in the suite's shape: what `llm_conformance.shims.chat` is in Python.
 *
 *     import { answer, deltas } from "../chat.mjs";
 *
 * Nothing is repaired: what a completion does not have is not in the response. It needs nothing but Node.
 */

/** OpenAI's finish words. */
export const FINISH = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
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

const REASONING = ["reasoning_content", "reasoning"];

/**
 * Return the response for the first choice of a chat completion, without `extras`.
 *
 * A completion without a choice raises a TypeError, as it would for the caller.
 */
export function answer(completion, call) {
  const { message, finish_reason: word } = completion.choices[0];
  const text = message.content ?? "";
  const calls = (message.tool_calls ?? []).map(toolCall);
  if (message.function_call) calls.push(toolCall({ function: message.function_call }));
  return {
    id: completion.id,
    provider: call.provider,
    model: completion.model,
    created: time(completion.created),
    message: text,
    reasoning: firstText(message, REASONING),
    segments: segments(text, message.refusal, calls),
    annotations: (message.annotations ?? []).map((each) => annotation(each, 0, length(text))),
    attachments: message.audio ? [{ type: AUDIO[call.params.audio?.format] ?? null, ...message.audio }] : [],
    tool_calls: calls,
    usage: counts(completion.usage),
    finish_reason: message.refusal ? "content_filter" : (FINISH[word] ?? null),
    raw_finish_reason: word,
  };
}

/** Yield the stream events of one `choices[0].delta`. */
export function* deltas(delta) {
  const trace = firstText(delta, REASONING);
  if (trace) yield { event_type: "response.reasoning.delta", delta: trace };
  if (delta.content) yield { event_type: "response.output_text.delta", delta: delta.content };
  const pieces = delta.tool_calls ?? [];
  for (const piece of delta.function_call ? [...pieces, { index: 0, function: delta.function_call }] : pieces) {
    const { name, input, arguments: given } = piece.custom ?? piece.function ?? {};
    const whose = { index: piece.index, id: piece.id || null, name };
    yield { event_type: "response.function_call_arguments.delta", delta: input || given, tool_call: whose };
  }
  if (delta.audio) yield { event_type: "response.media", attachment: delta.audio };
}

/** Return a citation; one whose offsets point outside of a text of `size` characters has no place. */
export function annotation(native, base, size) {
  const own = present(native);
  const inner = own[own.type] ?? {};
  delete own[own.type];
  const { start_index: start, end_index: end, ...data } = { ...own, ...present(inner) };
  const isPlaced = start !== undefined && end !== undefined && 0 <= start && start <= end && end <= size;
  return { start: isPlaced ? base + start : null, end: isPlaced ? base + end : null, data };
}

/** Return how many characters (code points) a text has. */
export function length(text) {
  return [...text].length;
}

/** Return a time in seconds as the protocol has it; null if there is none. */
export function time(seconds) {
  return seconds ? new Date(seconds * 1000).toISOString() : null;
}

function present(value) {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null && each !== undefined));
}

function firstText(message, names) {
  return names.map((name) => message[name]).find((value) => typeof value === "string" && value !== "") ?? null;
}

function toolCall({ id, custom, function: called }) {
  const { name, input, arguments: given } = custom ?? called;
  return { id: id || null, type: custom ? "custom" : "function", name, arguments: input || given || "{}" };
}

function segments(text, refusal, calls) {
  return [
    ...(text ? [{ type: "text", content: text }] : []),
    ...(refusal ? [{ type: "other", content: refusal, metadata: { kind: "refusal" } }] : []),
    ...calls.map((each) => ({ type: "tool_call", content: each.arguments })),
  ];
}

function counts(usage) {
  if (!usage) return null;
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage;
  return {
    prompt_tokens: usage.prompt_tokens,
    completion_tokens: usage.completion_tokens,
    total_tokens: usage.total_tokens,
    cached_tokens: prompt?.cached_tokens ?? null,
    cache_write_tokens: prompt?.cache_write_tokens ?? prompt?.cache_creation_tokens ?? null,
    reasoning_tokens: completion?.reasoning_tokens ?? null,
    audio_prompt_tokens: prompt?.audio_tokens ?? null,
    audio_completion_tokens: completion?.audio_tokens ?? null,
    raw: usage,
  };
}
