"use strict";

const RED = ["fail", "stale", "error"];
const WRONG = ["fail", "expected", "error"];
const RIGHT = ["pass", "stale"];
const STATUSES = ["fail", "error", "stale", "new", "expected", "blocked", "pass", "probe-failed", "probe-passed", "unsupported", "vacuous"];
const PROVENANCES = ["recorded", "transcribed", "edited", "synthetic", "generated"];
const ALL = "all";
const GENERATED = "generated";

const $ = (id) => document.getElementById(id);

// The reports contain what adapters wrote. It is set as text, never as markup.
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(item);
  }
  return groups;
}

// A run is one adapter of one report; each result refers to its run.
function runsOf(reports) {
  const runs = [];
  reports.forEach((report, number) => {
    for (const adapter of report.adapters) {
      const name = [adapter.name, adapter.version].filter(Boolean).join(" ");
      const taken = runs.filter((run) => run.base === name).length;
      runs.push({ number: runs.length, report, reportNumber: number, adapter, base: name, name: taken ? `${name} (${taken + 1})` : name });
    }
  });
  return runs;
}

// Results in which nothing is wrong come in groups: one for several rules.
function oneByOne({ rules, ...shared }) {
  return rules === undefined ? [shared] : rules.map((rule) => ({ ...shared, rule }));
}

function resultsOf(runs) {
  const results = [];
  for (const run of runs) {
    const exchanges = new Map(run.report.exchanges.map((each) => [`${each.adapter} ${each.scenario} ${each.method}`, each]));
    for (const result of run.report.results.flatMap(oneByOne)) {
      if (result.adapter !== run.adapter.name) continue;
      const exchange = exchanges.get(`${result.adapter} ${result.scenario} ${result.method}`);
      results.push({ ...result, run, api: `${result.provider}:${result.api}`, family: result.rule.split("-")[0], exchange });
    }
  }
  return results;
}

// A conversation is a scenario in one mode, judged by all rules through all methods. It is right if nothing in it fails.
function conversationsOf(results) {
  const found = new Map();
  for (const each of results) {
    const wrong = WRONG.includes(each.status);
    if (!wrong && !RIGHT.includes(each.status)) continue;
    const key = `${each.run.number} ${each.api} ${each.provenance} ${each.scenario} ${each.mode}`;
    if (!found.has(key)) found.set(key, { run: each.run, api: each.api, provenance: each.provenance, families: new Map() });
    const { families } = found.get(key);
    families.set(each.family, (families.get(each.family) ?? true) && !wrong);
  }
  return [...found.values()];
}

// The fields of the matrix by `api run column`: {judged, right}. Generated conversations have a column of their own.
function fieldsOf(conversations) {
  const fields = new Map();
  const count = (conversation, column, isRight) => {
    const key = `${conversation.api} ${conversation.run.number} ${column}`;
    const field = fields.get(key) ?? { judged: 0, right: 0 };
    fields.set(key, { judged: field.judged + 1, right: field.right + (isRight ? 1 : 0) });
  };
  for (const each of conversations) {
    const isRight = [...each.families.values()].every(Boolean);
    if (each.provenance === GENERATED) {
      count(each, GENERATED, isRight);
      continue;
    }
    count(each, ALL, isRight);
    for (const [family, ofFamily] of each.families) count(each, family, ofFamily);
  }
  return fields;
}
