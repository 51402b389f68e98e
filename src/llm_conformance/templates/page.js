"use strict";

const RED = ["fail", "stale", "error"];
const GREEN = ["pass", "expected"];
const STATUSES = ["fail", "error", "stale", "expected", "pass", "probe-failed", "probe-passed", "unsupported", "vacuous"];
const SHOWN_AT_ONCE = 200;

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

// A run is one adapter of one report; each result refers to its run.
function runsOf(reports) {
  const runs = [];
  reports.forEach((report, number) => {
    for (const adapter of report.adapters) {
      const name = [adapter.name, adapter.version].filter(Boolean).join(" ");
      const taken = runs.filter((run) => run.name === name).length;
      runs.push({ number: runs.length, report, reportNumber: number, adapter, name: taken ? `${name} (${taken + 1})` : name });
    }
  });
  return runs;
}

function resultsOf(runs) {
  const results = [];
  for (const run of runs) {
    const exchanges = new Map(run.report.exchanges.map((each) => [`${each.adapter} ${each.scenario} ${each.method}`, each]));
    for (const result of run.report.results) {
      if (result.adapter !== run.adapter.name) continue;
      const exchange = exchanges.get(`${result.adapter} ${result.scenario} ${result.method}`);
      results.push({ ...result, run, api: `${result.provider}:${result.api}`, exchange });
    }
  }
  return results;
}

function start(data) {
  const runs = runsOf(data.reports);
  const results = resultsOf(runs);
  const rules = Object.keys(data.rules).filter((rule) => results.some((each) => each.rule === rule));
  const apis = [...new Set(results.map((each) => each.api))].sort();
  let chosen = null; // {api, run, rule}: the field of the matrix whose cells are listed
  let shown = SHOWN_AT_ONCE;

  function showVerdicts() {
    for (const report of data.reports) {
      const names = report.adapters.map((each) => `${each.name} ${each.version ?? ""}`.trim()).join(", ");
      const counts = STATUSES.filter((each) => report.summary[each]).map((each) => `${report.summary[each]} ${each}`);
      const suite = `llm-conformance ${report.suite.version}, ${report.suite.scenarios} scenarios, ${report.suite.scenarios_digest.slice(0, 19)}`;
      $("verdicts").append(make("p", {}, make("strong", {}, `${names}: ${report.verdict}`), `. ${counts.join(", ")}. ${suite}, ${report.finished}.`));
    }
  }

  function fillFilters() {
    const options = (id, values) => $(id).append(...values.map((value) => make("option", { value }, value)));
    options("provider", apis);
    options("rule", [...data.families.filter((each) => rules.some((rule) => rule.startsWith(`${each}-`))), ...rules]);
    options("method", [...new Set(results.map((each) => each.method))].sort());
    options("provenance", [...new Set(results.map((each) => each.provenance))].sort());
    for (const status of STATUSES.filter((each) => results.some((result) => result.status === each))) {
      $("statuses").append(make("label", {}, make("input", { type: "checkbox", name: "status", value: status, checked: true }), status));
    }
    for (const run of runs) {
      $("adapters").append(make("label", {}, make("input", { type: "checkbox", name: "run", value: String(run.number), checked: true }), run.name));
    }
    $("adapters").hidden = runs.length < 2;
  }

  function wanted() {
    const checked = (name) => new Set([...document.querySelectorAll(`input[name=${name}]:checked`)].map((each) => each.value));
    const [statuses, numbers] = [checked("status"), checked("run")];
    const search = $("search").value.trim().toLowerCase();
    const [api, rule, method, provenance] = ["provider", "rule", "method", "provenance"].map((id) => $(id).value);
    return (each) =>
      statuses.has(each.status) &&
      numbers.has(String(each.run.number)) &&
      (!search || each.scenario.toLowerCase().includes(search)) &&
      (!api || each.api === api) &&
      (!rule || each.rule === rule || each.rule.startsWith(`${rule}-`)) &&
      (!method || each.method === method) &&
      (!provenance || each.provenance === provenance);
  }

  function fieldFor(found) {
    const count = (statuses) => found.filter((each) => statuses.includes(each.status)).length;
    const [red, expected, green] = [count(RED), count(["expected"]), count(["pass"])];
    if (red) return { kind: "fail", text: `✗${red}`, label: `${red} of ${red + expected + green} fail` };
    if (expected) return { kind: "known", text: `!${expected}`, label: `${expected} known failures, ${green} pass` };
    if (green) return { kind: "pass", text: "✓", label: `all ${green} pass` };
    const probes = count(["probe-passed", "probe-failed"]);
    if (probes) return { kind: "none", text: "◇", label: `${count(["probe-passed"])} of ${probes} probes pass` };
    if (found.some((each) => each.status === "unsupported")) return { kind: "none", text: "–", label: "unsupported" };
    return { kind: "none", text: found.length ? "·" : "", label: found.length ? "vacuous" : "no cells" };
  }

  function drawMatrix(matching) {
    const groups = Map.groupBy ? Map.groupBy(matching, keyOf) : groupBy(matching, keyOf);
    const visible = runs.filter((run) => document.querySelector(`input[name=run][value="${run.number}"]`).checked);
    const families = data.families.filter((family) => rules.some((rule) => rule.startsWith(`${family}-`)));
    const first = new Set(families.map((family) => rules.find((rule) => rule.startsWith(`${family}-`))));
    const head = make("thead", {},
      make("tr", {}, make("th", {}, ""), ...families.map((family) => make("th", { className: "family", colSpan: rules.filter((rule) => rule.startsWith(`${family}-`)).length, scope: "colgroup" }, family))),
      make("tr", {}, make("th", {}, "provider"), ...rules.map((rule) => make("th", { className: first.has(rule) ? "family" : "", scope: "col", title: data.rules[rule].requirement }, rule.split("-")[1]))));
    const body = make("tbody");
    for (const api of apis) {
      if (!matching.some((each) => each.api === api)) continue;
      if (visible.length > 1) body.append(make("tr", {}, make("th", { className: "provider", colSpan: rules.length + 1, scope: "rowgroup" }, api)));
      for (const run of visible) {
        if (!matching.some((each) => each.api === api && each.run === run)) continue; // the adapter does not list the provider
        const line = make("tr", {}, make("th", { scope: "row" }, visible.length > 1 ? run.name : api));
        for (const rule of rules) {
          const field = fieldFor(groups.get(`${api} ${run.number} ${rule}`) ?? []);
          const isChosen = chosen && chosen.api === api && chosen.run === run && chosen.rule === rule;
          const button = make("button", { type: "button", tabIndex: -1, "aria-label": `${api}, ${run.name}, ${rule}: ${field.label}`, title: `${rule}: ${field.label}` }, field.text);
          button.addEventListener("click", () => { chosen = isChosen ? null : { api, run, rule }; shown = SHOWN_AT_ONCE; draw(); focusField(api, run, rule); });
          button.dataset.field = `${api} ${run.number} ${rule}`;
          line.append(make("td", { className: [field.kind, first.has(rule) ? "family" : "", isChosen ? "chosen" : ""].join(" ") }, button));
        }
        body.append(line);
      }
    }
    $("matrix").replaceChildren(head, body);
    const button = $("matrix").querySelector("button");
    if (button) button.tabIndex = 0;
  }

  const keyOf = (each) => `${each.api} ${each.run.number} ${each.rule}`;

  function groupBy(items, key) {
    const groups = new Map();
    for (const item of items) (groups.get(key(item)) ?? groups.set(key(item), []).get(key(item))).push(item);
    return groups;
  }

  function focusField(api, run, rule) {
    const button = $("matrix").querySelector(`[data-field="${CSS.escape(`${api} ${run.number} ${rule}`)}"]`);
    if (button) moveTo(button);
  }

  function moveTo(button) {
    for (const other of $("matrix").querySelectorAll('button[tabindex="0"]')) other.tabIndex = -1;
    button.tabIndex = 0;
    button.focus();
  }

  function drawCells(matching) {
    const inField = (each) => !chosen || (each.api === chosen.api && each.run === chosen.run && each.rule === chosen.rule);
    const rank = (each) => STATUSES.indexOf(each.status);
    const order = (one, other) => rank(one) - rank(other) || one.scenario.localeCompare(other.scenario);
    const found = matching.filter(inField).sort(order);
    $("chosen").textContent = chosen ? `${chosen.rule} for ${chosen.api}${runs.length > 1 ? `, ${chosen.run.name}` : ""}` : "Cells";
    $("about").textContent = (chosen ? `${data.rules[chosen.rule].requirement} ` : "") + `${found.length} cells.`;
    $("cells").replaceChildren(...found.slice(0, shown).map(lineOf));
    $("more").hidden = found.length <= shown;
  }

  function lineOf(result) {
    const button = make("button", { type: "button" },
      make("span", { className: `status ${result.status}` }, result.status), make("span", {}, result.rule), make("span", {}, result.scenario),
      make("span", { className: "method" }, result.method), make("span", { className: "message" }, result.message ?? ""));
    button.addEventListener("click", () => open(result));
    return make("li", {}, button);
  }

  function open(result) {
    $("detail-body").replaceChildren(...detailOf(result, data));
    $("detail").showModal();
    $("detail").scrollTop = 0;
  }

  function draw() {
    const matching = results.filter(wanted());
    drawMatrix(matching);
    drawCells(matching);
  }

  showVerdicts();
  fillFilters();
  showDeviations(data.reports);
  const refilter = () => { chosen = null; shown = SHOWN_AT_ONCE; draw(); };
  $("search").addEventListener("input", refilter);
  // The search field fires "change" when it loses focus; drawing then would replace the button that is being clicked.
  $("filters").addEventListener("change", (event) => { if (event.target !== $("search")) refilter(); });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("more").addEventListener("click", () => { shown += SHOWN_AT_ONCE; draw(); });
  $("detail").addEventListener("click", (event) => { if (event.target === $("detail")) $("detail").close(); });
  $("matrix").addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const step = steps[event.key];
    const field = event.target.closest("td");
    if (!step || !field) return;
    event.preventDefault();
    const lines = [...$("matrix").querySelectorAll("tbody tr")].filter((line) => line.querySelector("td"));
    const at = lines.indexOf(field.parentElement) + step[0];
    const next = lines[at]?.querySelectorAll("td")[[...field.parentElement.querySelectorAll("td")].indexOf(field) + step[1]];
    if (next) moveTo(next.querySelector("button"));
  });
  draw();
}

function showDeviations(reports) {
  const known = reports.flatMap((report) => report.deviations.filter((each) => each.status !== "for others"));
  $("known").hidden = !known.length;
  $("known").querySelector("ul").append(...known.map((each) => make("li", {},
    make("span", { className: `status ${each.status}` }, each.status), ` ${each.rule} in ${each.scenario}: ${each.reason} `,
    make("a", { href: safe(each.link), rel: "noreferrer" }, each.link))));
}

const safe = (link) => (/^https?:\/\//.test(link) ? link : "");

function detailOf(result, data) {
  const rule = data.rules[result.rule] ?? { requirement: "This version of the suite does not have this rule.", reason: "" };
  const behind = result.exchange ?? result.example ?? {};
  const example = result.example ?? {};
  const known = result.deviation === undefined ? null : result.run.report.deviations[result.deviation];
  const sent = example.body ?? behind.body;
  const expected = example.expected ?? behind.expected;
  const returned = example.returned ?? behind.returned ?? null;
  const command = (example.command ?? behind.command ?? "") + (behind.command && !example.command ? ` --conformance-rule=${result.rule}` : "");
  const parts = [
    make("h2", { id: "detail-title" }, `${result.rule} in ${result.scenario}`),
    make("p", {}, make("span", { className: `status ${result.status}` }, result.status), ` ${result.run.name}, ${result.method}, ${result.mode}, ${result.provenance}${result.grounds ? `, grounds: ${result.grounds}` : ""}`),
    make("p", {}, make("strong", {}, rule.requirement)),
    rule.reason ? make("p", { className: "reason" }, rule.reason) : null,
    result.message ? make("pre", { id: "detail-message" }, result.message) : null,
    known ? make("p", {}, `Known deviation: ${known.reason} `, make("a", { href: safe(known.link), rel: "noreferrer" }, known.link)) : null,
  ];
  if (command) {
    const copy = make("button", { type: "button", className: "copy" }, "Copy");
    copy.addEventListener("click", () => navigator.clipboard?.writeText(command));
    parts.push(make("h3", {}, "Reproduce"), make("pre", { id: "detail-command" }, command), copy);
  }
  const left = make("div", {}, make("h3", {}, "Sent"), ...sentOf(behind, example, sent), ...(expected ? [make("h3", {}, "Expected"), pretty(expected)] : []));
  const right = make("div", {}, make("h3", {}, "Returned"), ...returnedOf(returned, behind));
  parts.push(sent === undefined ? make("p", {}, "The report has no exchange for this cell: no method was called.") : make("div", { className: "beside" }, left, right));
  return parts.filter((part) => part !== null);
}

const pretty = (value) => make("pre", {}, typeof value === "string" ? value : JSON.stringify(value, null, 2));

function sentOf(behind, example, sent) {
  const facts = { status: behind.status, fault: behind.fault, headers: behind.headers && JSON.stringify(behind.headers), "cut at byte": (example.cuts ?? behind.cuts)?.join(", ") };
  const list = Object.entries(facts).filter(([, value]) => value).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value))]);
  return [list.length ? make("dl", {}, ...list) : null, make("pre", { id: "detail-wire" }, sent || "(nothing)"),
    behind.request ? make("details", {}, make("summary", {}, "Request"), pretty(behind.request)) : null].filter(Boolean);
}

function returnedOf(returned, behind) {
  if (behind.raised && returned === null) return [make("p", {}, "The method raised"), make("pre", {}, behind.raised)];
  if (!returned) return [make("p", {}, "Nothing was returned.")];
  if (typeof returned !== "object") return [pretty(returned)];
  const parts = [make("p", {}, "message")];
  parts.push(typeof returned.message === "string" ? marked(returned.message, returned.annotations) : pretty(returned.message ?? null));
  if (returned.reasoning) parts.push(make("p", {}, "reasoning"), make("div", { className: "text reasoning", id: "detail-reasoning" }, String(returned.reasoning)));
  const annotations = Array.isArray(returned.annotations) ? returned.annotations : [];
  if (annotations.length) {
    parts.push(make("p", {}, "annotations"), make("pre", {}, annotations.map((each, number) => `${number + 1}: [${each?.start}, ${each?.end}) ${JSON.stringify(each?.data)}`).join("\n")));
  }
  parts.push(make("details", {}, make("summary", {}, "The whole response as JSON"), pretty(returned)));
  return parts;
}

// Offsets count code points; JavaScript strings count UTF-16 code units.
function marked(message, annotations) {
  const points = Array.from(message);
  const spans = (Array.isArray(annotations) ? annotations : [])
    .map((each, number) => ({ start: each?.start, end: each?.end, number: number + 1 }))
    .filter((each) => Number.isInteger(each.start) && Number.isInteger(each.end) && each.start >= 0 && each.end <= points.length && each.start <= each.end);
  const edges = [...new Set([0, points.length, ...spans.flatMap((each) => [each.start, each.end])])].sort((one, other) => one - other);
  const element = make("div", { className: "text", id: "detail-answer" });
  const numbers = (found) => make("sup", {}, found.map((each) => each.number).join(","));
  edges.forEach((edge, at) => {
    const empty = spans.filter((each) => each.start === edge && each.end === edge);
    if (empty.length) element.append(make("mark", {}, numbers(empty)));
    const text = points.slice(edge, edges[at + 1] ?? edge).join("");
    const covering = spans.filter((each) => each.start <= edge && each.end > edge);
    if (!text) return;
    element.append(covering.length ? make("mark", {}, text, covering.some((each) => each.end === edges[at + 1]) ? numbers(covering.filter((each) => each.end === edges[at + 1])) : "") : text);
  });
  return element;
}

unpack($("data").textContent).then(start, (error) => {
  document.querySelector("main").prepend(make("p", { role: "alert" }, `This browser cannot unpack the data of the page: ${error}`));
});
