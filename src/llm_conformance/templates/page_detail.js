// The detail view of a cell: the call, what was sent beside what came back, and the command.

const safe = (link) => (/^https?:\/\//.test(link) ? link : "");

function detailOf(result, exchange, data) {
  const rule = data.rules[result.rule] ?? { requirement: "This version of the suite does not have this rule.", reason: "" };
  const behind = exchange ?? result.example ?? {};
  const example = result.example ?? {};
  const known = result.deviation === undefined ? null : result.run.report.deviations[result.deviation];
  const sent = example.body ?? behind.body;
  const expected = example.expected ?? behind.expected;
  const returned = example.returned ?? behind.returned ?? null;
  const command = (example.command ?? behind.command ?? "") + (behind.command && !example.command ? ` --conformance-rule=${result.rule}` : "");
  const parts = [
    make("h2", { id: "detail-title" }, `${result.rule} in ${result.scenario}`),
    make("p", {}, make("span", { className: `status ${result.status}` }, result.status), ` ${result.run.name}, ${result.method}, ${result.mode}, ${result.provenance}${result.grounds ? `, grounds: ${result.grounds}` : ""}`),
    make("p", {}, make("strong", {}, ...withCode(rule.requirement))),
    rule.reason ? make("p", { className: "reason" }, ...withCode(rule.reason)) : null,
    result.message ? make("pre", { id: "detail-message" }, result.message) : null,
    result.missed ? make("p", { id: "detail-missed" }, `The adapter may have missed it: the library's own object has it at ${result.missed}`) : null,
    result.traceback ? make("details", { id: "detail-traceback" }, make("summary", {}, "Traceback"), make("pre", {}, result.traceback)) : null,
    callOf(result, behind),
    known ? make("p", {}, "Known deviation: ", ...withCode(reasonOf(known)), " ", make("a", { href: safe(known.link), rel: "noreferrer" }, known.link)) : null,
  ];
  if (command) {
    parts.push(make("h3", {}, "Reproduce"), make("pre", { id: "detail-command" }, command), copyButton(command));
  }
  const left = make("div", {}, make("h3", {}, "Sent"), ...sentOf(behind, example, sent), ...(expected ? [make("h3", {}, "Expected"), pretty(expected)] : []));
  const right = make("div", {}, make("h3", {}, "Returned"), ...returnedOf(returned, behind));
  parts.push(sent === undefined ? make("p", {}, "The report has no exchange for this cell: no method was called, or nothing is wrong with the answer to a recording without a scenario.") : make("div", { className: "beside" }, left, right));
  return parts.filter((part) => part !== null);
}

// What was asked for, and of which adapter: without it, rules about think tags cannot be understood.
function callOf(result, behind) {
  const facts = {
    provider: result.api,
    model: behind.model,
    "think profile": result.think_profile ?? behind.think_profile,
    "the adapter declares": result.run.adapter.capabilities.join(", ") || "no capability",
  };
  return make("dl", { id: "detail-call" }, ...Object.entries(facts).filter(([, value]) => value).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

const pretty = (value) => make("pre", {}, withEscapes(typeof value === "string" ? value : JSON.stringify(value, null, 2)));

function sentOf(behind, example, sent) {
  const facts = { status: behind.status, fault: behind.fault, outage: example.outage ?? behind.outage, headers: behind.headers && JSON.stringify(behind.headers), "cut at byte": (example.cuts ?? behind.cuts)?.join(", "), "valid because": example.valid_because };
  const list = Object.entries(facts).filter(([, value]) => value).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value))]);
  return [list.length ? make("dl", {}, ...list) : null, make("pre", { id: "detail-wire" }, withEscapes(sent || "(nothing)")),
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

