// The page: filters, the matrix, and the list of cells.

const SHOWN_AT_ONCE = 200;

function start(data) {
  const runs = runsOf(data.reports);
  const entries = entriesOf(runs);
  const present = new Set([...new Set(entries.map((each) => each.rules))].flat());
  const rules = Object.keys(data.rules).filter((rule) => present.has(rule));
  const values = (name) => [...new Set(entries.map((each) => each[name]))];
  const apis = values("api").sort();
  const questions = new Map(data.families);
  let chosen = null; // {api, run, column}: the field of the matrix whose cells are listed
  let shown = SHOWN_AT_ONCE;
  let opened = null; // the cell that the user has opened last

  function fillFilters() {
    const options = (id, values) => $(id).append(...values.map((value) => make("option", { value }, value)));
    options("provider", apis);
    options("rule", [...data.families.map(([family]) => family).filter((each) => rules.some((rule) => rule.startsWith(`${each}-`))), ...rules]);
    options("method", values("method").sort());
    options("provenance", PROVENANCES.filter((each) => values("provenance").includes(each)));
    const statuses = values("status");
    for (const status of STATUSES.filter((each) => statuses.includes(each))) {
      $("statuses").append(make("label", {}, make("input", { type: "checkbox", name: "status", value: status, checked: true }), status));
    }
    for (const run of runs) {
      $("adapters").append(make("label", {}, make("input", { type: "checkbox", name: "run", value: String(run.number), checked: true }), run.name));
    }
    $("adapters").hidden = runs.length < 2;
  }

  const checked = (name) => new Set([...document.querySelectorAll(`input[name=${name}]:checked`)].map((each) => each.value));

  // The filters but for the status: a conversation is judged by all of its cells.
  function matching() {
    const numbers = checked("run");
    const search = $("search").value.trim().toLowerCase();
    const [api, rule, method, provenance] = ["provider", "rule", "method", "provenance"].map((id) => $(id).value);
    const found = entries.filter((each) =>
      numbers.has(String(each.run.number)) &&
      (!search || each.searched.includes(search)) &&
      (!api || each.api === api) &&
      (!method || each.method === method) &&
      (!provenance || each.provenance === provenance));
    return rule ? found.map((each) => withRules(each, (id) => id === rule || familyOf(id) === rule)).filter(Boolean) : found;
  }

  function drawCells(found) {
    const statuses = checked("status");
    const listed = found.filter((each) => statuses.has(each.status)).map((each) => (chosen ? inField(each, chosen) : each)).filter(Boolean);
    const count = listed.reduce((total, each) => total + each.rules.length, 0);
    const cells = listed.slice(0, shown).flatMap((each) => each.rules.map((rule) => cellOf(each, rule))).slice(0, shown);
    $("chosen").textContent = chosen ? `${chosen.column} for ${chosen.api}${runs.length > 1 ? `, ${chosen.run.name}` : ""}` : "Cells";
    $("about").textContent = `${(chosen && questions.get(chosen.column)) ?? ""} ${counted(count, "cell")}: one for each rule, scenario, and method.`.trim();
    $("cells").replaceChildren(...cells.map(lineOf));
    $("more").hidden = count <= shown;
  }

  function lineOf(result) {
    const button = make("button", { type: "button" },
      make("span", { className: `status ${result.status}` }, result.status), make("span", { title: data.rules[result.rule]?.requirement ?? "" }, result.rule), make("span", {}, result.scenario),
      make("span", { className: "method" }, result.method), make("span", { className: "message" }, result.message ?? ""));
    button.addEventListener("click", () => open(result));
    return make("li", {}, button);
  }

  async function open(result) {
    opened = result;
    $("detail-body").replaceChildren(make("p", {}, "Loading …"));
    $("detail").showModal();
    const exchange = await exchangeOf(result);
    if (opened !== result) return;
    $("detail-body").replaceChildren(...detailOf(result, exchange, data));
    $("detail").scrollTop = 0;
  }

  function draw() {
    const found = matching();
    const visible = runs.filter((run) => checked("run").has(String(run.number)));
    drawMatrix(data, visible, apis, found, chosen, (field) => { chosen = field; shown = SHOWN_AT_ONCE; draw(); });
    drawCells(found);
  }

  $("verdicts").append(...verdictsOf(runs));
  showFindings(data, runs, entries, open);
  fillFilters();
  $("families").append(...data.families.filter(([name]) => rules.some((rule) => familyOf(rule) === name)).flatMap(([name, question]) => [make("dt", {}, name), make("dd", {}, question)]));
  showDeviations(data.reports);
  const refilter = () => { chosen = null; shown = SHOWN_AT_ONCE; draw(); };
  $("search").addEventListener("input", refilter);
  // The search field fires "change" when it loses focus; drawing then would replace the button that is being clicked.
  $("filters").addEventListener("change", (event) => { if (event.target !== $("search")) refilter(); });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("more").addEventListener("click", () => { shown += SHOWN_AT_ONCE; draw(); });
  $("detail").addEventListener("click", (event) => { if (event.target === $("detail")) $("detail").close(); });
  $("matrix").addEventListener("keydown", moveByKey);
  draw();
}

// As `deviations.SOMETIMES` in Python has it.
function reasonOf(known) {
  return (known.sometimes ? "known, seen in some runs: " : "") + known.reason;
}

function showDeviations(reports) {
  const known = reports.flatMap((report) => report.deviations.filter((each) => each.status !== "for others"));
  $("known").hidden = !known.length;
  $("known").querySelector("ul").append(...known.map((each) => make("li", {},
    make("span", { className: `status ${each.status}` }, each.status), ` ${each.rule} in ${each.scenario}: `, ...withCode(reasonOf(each)), " ",
    make("a", { href: safe(each.link), rel: "noreferrer" }, each.link))));
}

unpack($("data").textContent).then(start, (error) => {
  document.querySelector("main").prepend(make("p", { role: "alert" }, `This browser cannot unpack the data of the page: ${error}`));
});
