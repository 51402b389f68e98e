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

// A text of the suite, with what is between backticks as code.
const withCode = (text) => String(text).split(/`([^`]+)`/).map((part, at) => (at % 2 ? make("code", {}, part) : part));

// A text with an escape for each character that nobody sees: controls, line separators, marks of direction.
const withEscapes = (text) => text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
  (found) => (found === "\r" ? "\\r" : `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`));

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

// The entries of a run: results with one rule, and groups of results that say no more than their status, with several.
// What the results of an exchange have in common is their prototype: there may be two million of them.
function entriesOf(runs) {
  const entries = [];
  const reports = groupBy(runs, (run) => run.report);
  for (const [report, own] of reports) {
    const byName = new Map(own.map((run) => [run.adapter.name, run]));
    const places = report.places.map((values) => {
      const place = Object.fromEntries(report.of_place.map((name, at) => [name, values[at]]));
      const run = byName.get(place.adapter);
      return { ...place, exchange: values[report.of_place.length], run, api: `${place.provider}:${place.api}`, searched: place.scenario.toLowerCase() };
    });
    for (const { api, ...result } of report.results) entries.push(Object.assign(Object.create(places[result.place]), result, { rules: [result.rule] }));
    for (const [place, status, message, rules] of report.quiet) {
      const entry = Object.create(places[place]);
      entry.status = status;
      entry.message = report.messages[message];
      entry.rules = report.rules[rules];
      entries.push(entry);
    }
  }
  return sorted(entries.filter((each) => each.run));
}

// The worst status first, then by scenario. Texts are compared once for each scenario, as there are many more entries.
function sorted(entries) {
  const { compare } = new Intl.Collator();
  const scenarios = [...new Set(entries.map((each) => each.scenario))].sort(compare);
  const ranks = new Map(scenarios.map((scenario, rank) => [scenario, rank]));
  const rank = (each) => STATUSES.indexOf(each.status) * scenarios.length + ranks.get(each.scenario);
  return entries.map((entry) => [rank(entry), entry]).sort(([one], [other]) => one - other).map(([, entry]) => entry);
}

const familyOf = (rule) => rule.split("-")[0];

// The families of a list of rules, by the list: groups share their lists.
const familiesOfLists = new WeakMap();
function familiesOf(rules) {
  if (!familiesOfLists.has(rules)) familiesOfLists.set(rules, [...new Set(rules.map(familyOf))]);
  return familiesOfLists.get(rules);
}

// The entry with those of its rules that are wanted; null if there is none.
function withRules(entry, isWanted) {
  const rules = entry.rules.filter(isWanted);
  if (rules.length === entry.rules.length) return entry;
  return rules.length ? Object.assign(Object.create(entry), { rules }) : null;
}

// One cell of an entry.
function cellOf(entry, rule) {
  return Object.assign(Object.create(entry), { rule, family: familyOf(rule) });
}

// The exchange of a cell, from the part of the page that has it; unpacked when the first of its cells is opened.
const unpackedParts = new Map();
async function exchangeOf(result) {
  if (!result.exchange) return undefined;
  const [part, position] = result.exchange;
  if (!unpackedParts.has(part)) unpackedParts.set(part, unpack(document.querySelectorAll("script.exchanges")[part].textContent));
  return (await unpackedParts.get(part))[position];
}

// A conversation is a scenario in one mode, judged by all rules through all methods. It is right if nothing in it fails.
function conversationsOf(entries) {
  const found = new Map();
  for (const each of entries) {
    const wrong = WRONG.includes(each.status);
    if (!wrong && !RIGHT.includes(each.status)) continue;
    const key = `${each.run.number} ${each.api} ${each.provenance} ${each.scenario} ${each.mode}`;
    if (!found.has(key)) found.set(key, { run: each.run, api: each.api, provenance: each.provenance, families: new Map() });
    const { families } = found.get(key);
    for (const family of familiesOf(each.rules)) families.set(family, (families.get(family) ?? true) && !wrong);
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
