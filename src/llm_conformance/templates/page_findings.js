// The head of the page: the verdict on each adapter, and what is wrong, grouped by cause.

const FINDINGS_AT_ONCE = 20;

function verdictsOf(runs) {
  return runs.map((run) => {
    const { report } = run;
    const limited = report.judged.some((each) => each.adapter === run.adapter.name && each.not_declared.length);
    const kind = report.verdict === "conforms" && !limited ? "pass" : report.verdict === "failing" || report.verdict === "suite error" ? "fail" : "known";
    return make("section", { className: "run", "aria-label": run.name },
      make("h2", {}, make("span", { className: `pill ${kind}` }, report.verdict), ` ${run.name}`),
      make("ul", { className: "right" }, ...rightOf(run)),
      report.why ? make("p", { className: "why" }, `No verdict: ${report.why}`) : null,
      make("p", { className: "judged" }, `Judged: ${report.told[run.adapter.name]}`),
      make("p", { className: "facts" }, factsOf(run)));
  });
}

function rightOf(run) {
  const rows = run.report.conversations.filter((each) => each.adapter === run.adapter.name && each.family === null);
  return PROVENANCES.filter((each) => rows.some((row) => row.provenance === each)).map((provenance) => {
    const sum = (name) => rows.filter((row) => row.provenance === provenance).reduce((total, row) => total + row[name], 0);
    const [right, judged] = [sum("right"), sum("judged")];
    return make("li", { className: right === judged ? "pass" : "fail", title: PROVENANCE_TITLES[provenance] },
      make("strong", {}, `${right} of ${judged}`), ` ${provenance} conversations right`);
  });
}

const PROVENANCE_TITLES = {
  recorded: "made by calling the provider",
  transcribed: "a published capture, unchanged",
  edited: "a capture that was completed or shortened",
  synthetic: "written to the documented wire format",
  generated: "drawn by Hypothesis; a kind of conversation with an API in one mode counts as one conversation",
};

function factsOf(run) {
  const { report, adapter } = run;
  const cells = STATUSES.filter((each) => report.summary[each]).map((each) => `${report.summary[each]} ${each}`).join(", ");
  return [
    `edition ${report.edition} of llm-conformance ${report.suite.version}`,
    `${report.suite.scenarios} scenarios (${report.suite.scenarios_digest.slice(0, 19)})`,
    `${report.examples} generated examples per property (--examples=${report.effort})`,
    report.transport === "server" ? null : `transport ${report.transport}`,
    adapter.not_covered ? `${counted(adapter.not_covered, "scenario")} of APIs that the adapter does not list` : null,
    `declares ${adapter.capabilities.join(", ") || "no capability"}`,
    `cells: ${cells}`,
    report.finished,
  ].filter(Boolean).join(" · ");
}

function showFindings(data, runs, entries, open) {
  const results = entries.filter((each) => each.rule); // the others are quiet
  const own = (run, failing) => run.report.findings.filter((each) => each.adapter === run.adapter.name && (each.status === "fail") === failing);
  // The numbers are those of the terminal and of Markdown, and so is the order of one adapter's findings.
  const all = runs.flatMap((run) => [...own(run, true).map((each, at) => ({ ...each, run, number: at + 1 })), ...own(run, false).map((each) => ({ ...each, run }))]);
  const rank = (finding) => data.harms.findIndex(([harm]) => harm === finding.harm);
  const isDrawn = (finding) => Object.keys(finding.provenance).every((each) => each === GENERATED);
  const order = (one, other) => isDrawn(one) - isDrawn(other) || rank(one) - rank(other) || other.conversations - one.conversations;
  const failing = all.filter((each) => each.status === "fail").sort(order);
  const known = all.filter((each) => each.status !== "fail").sort(order);
  const cardOf = (finding) => findingCard(finding, data, results, open, runs.length > 1);
  $("findings-title").textContent = failing.length ? counted(failing.length, "finding") : "No findings";
  const fill = (list, found) => {
    for (const drawn of [false, true]) {
      for (const [harm, meaning] of data.harms) {
        const alike = found.filter((each) => each.harm === harm && isDrawn(each) === drawn);
        const title = drawn ? `${meaning}, in generated inputs alone` : meaning;
        if (alike.length) list.append(make("h3", { className: "harm" }, make("span", { className: "pill fail" }, harm), ` ${title}`), ...alike.map(cardOf));
      }
    }
  };
  const below = []; // stays below the findings, however many of them are shown
  if (known.length) {
    const folded = make("details", { id: "known-findings" }, make("summary", {}, `${counted(known.length, "finding")} that known deviations name`));
    fill(folded, known);
    below.push(folded);
  }
  const later = results.filter((each) => each.status === "new").length;
  if (later) {
    below.push(make("p", { id: "new" }, `${counted(later, "new failure")}, not counted: the rule or the scenario is newer than the edition that the run is pinned to. The cells of status "new" are listed below.`));
  }
  const draw = (shown) => {
    $("findings").replaceChildren();
    fill($("findings"), shown);
    if (shown.length < failing.length) {
      const more = make("button", { type: "button", className: "more" }, `Show all ${failing.length} findings`);
      more.addEventListener("click", () => draw(failing));
      $("findings").append(more);
    }
    $("findings").append(...below);
  };
  draw(failing.slice(0, FINDINGS_AT_ONCE));
}

function findingCard(finding, data, results, open, named) {
  const rule = data.rules[finding.rule];
  const title = (id) => data.rules[id]?.requirement ?? "";
  const facts = [
    named ? finding.run.name : null,
    `${counted(finding.conversations, "conversation")} (${Object.entries(finding.provenance).map(([name, count]) => `${count} ${name}`).join(", ")})`,
    few(finding.apis, "API"),
    finding.methods.join(", "),
    finding.think_profiles.length ? `think profile ${finding.think_profiles.join(", ")}` : null,
  ].filter(Boolean).join(" · ");
  const card = make("article", { className: `finding ${finding.status}` },
    make("h4", {}, finding.number ? make("span", { className: "number" }, `${finding.number}. `) : null, make("abbr", { title: title(finding.rule) }, finding.rule), " ", ...withCode(rule?.requirement ?? "")),
    make("p", { className: "message" }, finding.message),
    rule?.noticed && rule.noticed !== rule.requirement ? make("p", { className: "noticed" }, ...withCode(rule.noticed)) : null,
    make("p", { className: "facts" }, facts),
    finding.also.length ? make("p", { className: "facts also" }, "Also fails: ", ...finding.also.flatMap((id, at) => [at ? ", " : "", make("abbr", { title: title(id) }, id)])) : null,
    make("ul", { className: "examples", "aria-label": "Examples" }, ...finding.examples.map((example) => make("li", {}, exampleOf(finding, example, results, open)))));
  if (finding.missed) card.append(make("p", { className: "facts missed" }, `The adapter may have missed it: the library's own object has it at ${finding.missed}`));
  if (finding.traceback) card.append(make("details", { className: "traceback" }, make("summary", {}, "Traceback"), make("pre", {}, finding.traceback)));
  const command = finding.examples.find((each) => each.command)?.command;
  if (command) card.append(make("div", { className: "command" }, make("code", {}, command), copyButton(command)));
  return card;
}

function exampleOf(finding, example, results, open) {
  const text = `${example.scenario} (${[example.method, example.provenance, example.think_profile && `think profile ${example.think_profile}`].filter(Boolean).join(", ")})`;
  const result = results.find((each) => each.run === finding.run && each.rule === finding.rule && each.scenario === example.scenario && each.method === example.method);
  if (!result) return text;
  const button = make("button", { type: "button", className: "link" }, text);
  button.addEventListener("click", () => open(result));
  return button;
}

const few = (names, noun) => (names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${counted(names.length - 3, `more ${noun}`)}` : names.join(", "));

function copyButton(command) {
  const copy = make("button", { type: "button", className: "copy" }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard?.writeText(command);
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  });
  return copy;
}
