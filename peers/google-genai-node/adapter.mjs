/**
 * Google's Gen AI SDK for JavaScript behind the line protocol.
 *
 *     npm ci --ignore-scripts --prefix peers/google-genai-node
 *     llm-conformance run --adapter="cmd:node peers/google-genai-node/adapter.mjs" --deviations=peers/google-genai-node/deviations.toml
 *
 * The shim asks by `models.generateContent` and `models.generateContentStream`. Of an answer it reads the first
 * candidate with its parts, grounding and citations, the feedback on the prompt, and the usage.
 *
 * The library has nothing that folds the chunks of a stream, so the shim does it. If the first part of a chunk is a
 * text, it continues the last part before it, provided that both are of one kind and unsigned. Pieces of speech are
 * joined. The last counts are kept, because they are those of the answer so far. An earlier answer goes back as the
 * content that came, after a stream as the folded parts. The library gives offsets in bytes of UTF-8, which become code
 * points of all text that is no thought. Offsets that do not fit this text become null. The library makes no retries
 * unless it is told to; `timeout` holds until the body has been read.
 */

import { readFileSync } from "node:fs";

import { GoogleGenAI } from "@google/genai";

import { NotImplementedError, serve } from "../program.mjs";

const NAMESPACE = "google-genai-node";
const { version } = JSON.parse(
  readFileSync(new URL("node_modules/@google/genai/package.json", import.meta.url), "utf8"),
);

const DESCRIPTION = {
  name: NAMESPACE,
  version,
  providers: ["gemini:generate"],
  capabilities: [
    "streaming", "reasoning", "segments", "annotations", "audio", "tools", "round_trip", "errors",
    "provenance", "raw_finish", "usage_details", "error_details",
  ],
  methods: ["complete", "stream"],
  // Errors with an HTTP status are known by that (`ApiError.status`). For a stream that cannot be read, the library
  // raises a plain Error with a message of its own.
  errors: { Error: "LLMError" },
};

const FINISH = Object.fromEntries([
  ["STOP", "stop"],
  ...["MAX_TOKENS", "CONTINUATION"].map((word) => [word, "length"]),
  ...[
    "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
    "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
    "MODEL_ARMOR", "JAILBREAK", "ESCALATION", "PUP_LIMITED_DISABLED",
  ].map((word) => [word, "content_filter"]),
  ...[
    "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE", "NO_IMAGE",
  ].map((word) => [word, "error"]),
]);

// The fields of `GenerateContentConfig` that are parameters of the API; it has no place for others.
const CONFIG = new Set([
  "serviceTier", "temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "stopSequences", "responseLogprobs",
  "logprobs", "presencePenalty", "frequencyPenalty", "seed", "responseMimeType", "responseSchema", "responseJsonSchema",
  "safetySettings", "tools", "toolConfig", "labels", "cachedContent", "responseModalities", "mediaResolution",
  "speechConfig", "thinkingConfig", "imageConfig", "store",
]);

const TEXT = "response.output_text.delta";

// -- What is asked ---------------------------------------------------------------------------------------------------

function models(call) {
  const httpOptions = { baseUrl: call.base_url, timeout: call.timeout_s * 1000 };
  return new GoogleGenAI({ apiKey: call.api_key, httpOptions }).models;
}

function request(call) {
  const { generationConfig, ...params } = call.params;
  const config = { ...generationConfig, ...params };
  const other = Object.keys(config).find((name) => !CONFIG.has(name));
  if (other) throw new NotImplementedError(`\`${other}\`, for which the configuration of a request has no field`);
  const system = call.messages.filter(({ role }) => role === "system").flatMap(({ content }) => parts(content));
  if (system.length > 0) config.systemInstruction = { parts: system };
  if (call.tools.length > 0) {
    const functionDeclarations = call.tools.map(({ function: { name, description, parameters } }) => ({
      name,
      description,
      parametersJsonSchema: parameters,
    }));
    config.tools = [...(config.tools ?? []), { functionDeclarations }];
  }
  return { model: call.model, contents: contents(call.messages), config };
}

/** Return a conversation as the library's contents; the results of an answer's calls are one content there. */
function contents(messages) {
  const said = [];
  let names = new Map(); // of the functions that the last answer calls, by id
  let results = null;
  for (const message of messages) {
    const earlier = message.extras?.[NAMESPACE];
    if (message.role === "tool" && !earlier) {
      if (!results) said.push({ role: "user", parts: (results = []) });
      const id = message.tool_call_id ?? undefined;
      const name = message.name ?? names.get(message.tool_call_id);
      results.push({ functionResponse: { id, name, response: { result: message.content } } });
      continue;
    }
    results = null;
    if (earlier) {
      names = new Map(message.tool_calls.map(({ id, name }) => [id, name]));
      said.push(earlier.content);
    } else if (message.role !== "system") {
      said.push({ role: message.role === "assistant" ? "model" : "user", parts: parts(message.content) });
    }
  }
  return said;
}

function parts(content) {
  return typeof content === "string" ? [{ text: content }] : content;
}

// -- What is answered ------------------------------------------------------------------------------------------------

async function complete(call) {
  const folded = new Folded(false);
  const events = folded.add(await models(call).generateContent(request(call)));
  while (!events.next().done); // of a plain answer only the end counts
  return folded.answer(call);
}

async function* stream(call) {
  const folded = new Folded(true);
  for await (const chunk of await models(call).generateContentStream(request(call))) yield* folded.add(chunk);
  yield* folded.end();
  yield { event_type: "response.completed", ...folded.answer(call) };
}

/** What one response, or the chunks of a stream, add up to. */
class Folded {
  chunks = [];
  parts = [];
  text = "";
  calls = [];
  media = [];
  citations = [];
  #joins;
  #unspoken = Buffer.alloc(0);

  constructor(joins) {
    this.#joins = joins;
  }

  *add(chunk) {
    this.chunks.push(chunk);
    this.id ||= chunk.responseId;
    this.model = chunk.modelVersion ?? this.model;
    this.created ||= chunk.createTime;
    this.counts = chunk.usageMetadata ?? this.counts;
    this.finish = chunk.promptFeedback?.blockReason ?? this.finish;
    for (const candidate of chunk.candidates ?? []) {
      if (candidate.index) continue;
      for (const [position, part] of (candidate.content?.parts ?? []).entries()) {
        yield* this.#part(part, this.#joins && position === 0);
      }
      this.finish = candidate.finishReason ?? this.finish;
      this.#cite(candidate);
    }
  }

  #cite({ groundingMetadata: grounding, citationMetadata }) {
    const sources = grounding?.groundingChunks ?? [];
    for (const support of grounding?.groundingSupports ?? []) {
      const { startIndex: start = 0, endIndex: end, ...segment } = support.segment ?? {};
      const cited = (support.groundingChunkIndices ?? []).map((number) => sources[number]).filter(Boolean);
      this.citations.push({ start, end, data: { ...support, segment, groundingChunks: cited } });
    }
    for (const { startIndex: start = 0, endIndex: end, ...data } of citationMetadata?.citations ?? []) {
      this.citations.push({ start, end, data });
    }
  }

  *#part(part, goesOn) {
    const last = this.parts.at(-1);
    if (part.text !== undefined) {
      if (!part.text && !part.thoughtSignature) return; // the end of a stream
      const isMore = goesOn && last?.text !== undefined && Boolean(last.thought) === Boolean(part.thought);
      if (isMore && !last.thoughtSignature && !part.thoughtSignature) {
        this.parts[this.parts.length - 1] = { ...last, text: last.text + part.text };
      } else this.parts.push(part);
      if (!part.thought) this.text += part.text;
      if (part.text) yield { event_type: part.thought ? "response.reasoning.delta" : TEXT, delta: part.text };
    } else if (part.inlineData && !part.thought) yield* this.#blob(part);
    else {
      this.parts.push(part);
      const shown = segment(part);
      if (part.functionCall) {
        const { id, name } = part.functionCall;
        const tool_call = { index: this.calls.length, id, name };
        this.calls.push(made(part.functionCall));
        yield { event_type: "response.function_call_arguments.delta", delta: shown.content, tool_call };
      } else if (!["text", "reasoning"].includes(shown.type)) yield { event_type: TEXT, delta: "", segments: [shown] };
    }
  }

  *#blob(part) {
    const { mimeType: type, data } = part.inlineData;
    const last = this.parts.at(-1)?.inlineData;
    const bytes = Buffer.from(data, "base64");
    if (this.#joins && type.startsWith("audio/") && last?.mimeType === type) {
      const whole = Buffer.concat([Buffer.from(last.data, "base64"), bytes]);
      this.parts[this.parts.length - 1] = { inlineData: { mimeType: type, data: whole.toString("base64") } };
    } else {
      yield* this.end();
      this.parts.push(part);
      this.media.push({ id: `media-${this.media.length}`, text_index: length(this.text), type, data: "" });
    }
    const spoken = Buffer.concat([this.#unspoken, bytes]); // only whole groups of three bytes can be joined as base64
    const whole = spoken.length - (spoken.length % 3);
    this.#unspoken = spoken.subarray(whole);
    yield* this.#piece(spoken.subarray(0, whole));
  }

  *end() {
    const left = this.#unspoken;
    this.#unspoken = Buffer.alloc(0);
    if (left.length > 0) yield* this.#piece(left);
  }

  *#piece(bytes) {
    const data = bytes.toString("base64");
    const medium = this.media.at(-1);
    medium.data += data;
    yield { event_type: "response.media", attachment: { id: medium.id, type: medium.type, data } };
  }

  answer(call) {
    const events = this.end();
    while (!events.next().done);
    const thoughts = this.parts.filter(({ text, thought }) => text && thought).map(({ text }) => text);
    const response = {
      id: this.id,
      provider: call.provider,
      model: this.model ?? call.model,
      created: this.created ?? null,
      message: this.text,
      reasoning: thoughts.join("") || null,
      segments: this.parts.filter((part) => part.thought || !part.inlineData).map(segment),
      annotations: this.citations.map((each) => placed(each, Buffer.from(this.text))),
      attachments: this.media,
      tool_calls: this.calls,
      usage: usage(this.counts),
      finish_reason: FINISH[this.finish] ?? null,
      raw_finish_reason: this.finish ?? null,
      extras: { [NAMESPACE]: { content: { role: "model", parts: this.parts } } },
    };
    return { response, native: this.chunks };
  }
}

function length(text) {
  return [...text].length;
}

/** Return a citation with code points in place of bytes; one outside of the text, or amid a character, has no place. */
function placed({ start, end, data }, text) {
  const isStart = (at) => at === text.length || (text[at] & 0xc0) !== 0x80;
  const isPlaced = end !== undefined && start <= end && end <= text.length && isStart(start) && isStart(end);
  const characters = (at) => length(text.subarray(0, at).toString());
  return { start: isPlaced ? characters(start) : null, end: isPlaced ? characters(end) : null, data };
}

function made({ id, name, args }) {
  return { id, name, arguments: JSON.stringify(args ?? {}) };
}

function segment(part) {
  const { thought, thoughtSignature: signature, ...shown } = part;
  const isText = Object.keys(shown).every((name) => name === "text") && (shown.text !== undefined || signature);
  if (isText) return { type: thought ? "reasoning" : "text", content: shown.text ?? "", metadata: { signature } };
  if (part.functionCall) {
    const { name, arguments: content } = made(part.functionCall);
    return { type: "tool_call", content, metadata: { signature, name } };
  }
  if (part.executableCode || part.toolCall) {
    return { type: "tool_call", content: JSON.stringify(shown), metadata: { signature, server_executed: true } };
  }
  return { type: "other", content: "", metadata: { signature, ...shown } };
}

/** Sum up as documented: the total is prompt, results of tools, candidates and thoughts. */
function usage(counts) {
  if (!counts) return null;
  const { promptTokenCount: asked, thoughtsTokenCount: thought } = counts;
  return {
    prompt_tokens: asked === undefined ? null : asked + (counts.toolUsePromptTokenCount ?? 0),
    completion_tokens: (counts.candidatesTokenCount ?? 0) + (thought ?? 0),
    total_tokens: counts.totalTokenCount ?? null,
    cached_tokens: counts.cachedContentTokenCount ?? null,
    reasoning_tokens: thought ?? null,
    raw: counts,
  };
}

// -- What goes wrong -------------------------------------------------------------------------------------------------

function reported(error) {
  return {
    error_type: error?.constructor?.name,
    message: error?.message,
    status_code: error?.status,
    original_error: String(error?.cause ?? error),
  };
}

await serve({ description: DESCRIPTION, complete, stream, reported });
