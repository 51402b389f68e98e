// The matrix: conversations right of conversations judged, by API and family of rules.

function columnsOf(data, fields) {
  const present = new Set([...fields.keys()].map((key) => key.split(" ").at(-1)));
  return [[ALL, "all families together"], ...data.families, [GENERATED, "generated conversations, by all families"]].filter(([name]) => present.has(name));
}

function fieldText(field) {
  if (!field) return { kind: "none", text: "–", label: "nothing judged" };
  const { right, judged } = field;
  if (right === judged) return { kind: "pass", text: String(right), label: `all ${judged} right` };
  return { kind: "fail", text: `${right}/${judged}`, label: `${right} of ${judged} right` };
}

// `choose` is called with {api, run, column} when the user chooses a field.
function drawMatrix(data, runs, apis, matching, chosen, choose) {
  const fields = fieldsOf(conversationsOf(matching));
  const columns = columnsOf(data, fields);
  const judged = new Set(matching.map((each) => `${each.api} ${each.run.number}`));
  const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "provider:API"),
    ...columns.map(([name, question]) => make("th", { scope: "col", className: name === ALL || name === GENERATED ? "total" : "" }, make("abbr", { title: question }, name === GENERATED ? "gen." : name)))));
  const body = make("tbody");
  for (const api of apis) {
    const judging = runs.filter((run) => judged.has(`${api} ${run.number}`));
    if (!judging.length) continue;
    if (runs.length > 1) body.append(make("tr", { className: "api" }, make("th", { colSpan: columns.length + 1, scope: "rowgroup" }, api)));
    for (const run of judging) {
      const name = runs.length > 1 ? run.name : api;
      const line = make("tr", {}, make("th", { scope: "row", title: name }, name));
      for (const [column, question] of columns) {
        const field = fieldText(fields.get(`${api} ${run.number} ${column}`));
        const isChosen = chosen && chosen.api === api && chosen.run === run && chosen.column === column;
        const button = make("button", { type: "button", tabIndex: -1, "aria-label": `${api}, ${run.name}, ${column}: ${field.label}`, title: `${column} (${question}): ${field.label}` }, make("span", { className: "column" }, column), field.text);
        button.addEventListener("click", () => { choose(isChosen ? null : { api, run, column }); focusField(api, run, column); });
        button.dataset.field = `${api} ${run.number} ${column}`;
        line.append(make("td", { className: [field.kind, column === ALL || column === GENERATED ? "total" : "", isChosen ? "chosen" : ""].join(" ") }, button));
      }
      body.append(line);
    }
  }
  $("matrix").replaceChildren(head, body);
  const button = $("matrix").querySelector("button");
  if (button) button.tabIndex = 0;
}

function focusField(api, run, column) {
  const button = $("matrix").querySelector(`[data-field="${CSS.escape(`${api} ${run.number} ${column}`)}"]`);
  if (button) moveTo(button);
}

function moveTo(button) {
  for (const other of $("matrix").querySelectorAll('button[tabindex="0"]')) other.tabIndex = -1;
  button.tabIndex = 0;
  button.focus();
}

function moveByKey(event) {
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const step = steps[event.key];
  const field = event.target.closest("td");
  if (!step || !field) return;
  event.preventDefault();
  const lines = [...$("matrix").querySelectorAll("tbody tr")].filter((line) => line.querySelector("td"));
  const at = lines.indexOf(field.parentElement) + step[0];
  const next = lines[at]?.querySelectorAll("td")[[...field.parentElement.querySelectorAll("td")].indexOf(field) + step[1]];
  if (next) moveTo(next.querySelector("button"));
}

// The entry with those of its rules whose cells are counted in a field; null if there is none.
function inField(entry, { api, run, column }) {
  if (entry.api !== api || entry.run !== run || (column === GENERATED) !== (entry.provenance === GENERATED)) return null;
  return column === GENERATED || column === ALL ? entry : withRules(entry, (rule) => familyOf(rule) === column);
}
