(() => {
  "use strict";
  const root = document.querySelector("#explore");
  if (!root || root.dataset.ready) return;
  root.dataset.ready = "yes";
  const one = (selector) => root.querySelector(selector);
  const counted = JSON.parse(one("#counts").textContent);
  const { score } = counted;
  const MOST = 100;
  const everyone = "";
  const kept = window.explored?.all === counted.columns.join("\0") ? window.explored : {};
  // Where a group's threshold is: a place between bins of scores; without one, as was decided.
  const state = { all: counted.columns.join("\0"), by: counted.columns, to: everyone, whom: everyone, held: false, ...kept, moved: null, base: null };
  window.explored = state;

  const make = (tag, traits = {}, ...inside) => {
    const part = document.createElement(tag);
    for (const [name, value] of Object.entries(traits)) {
      if (name in part) part[name] = value;
      else part.setAttribute(name, value);
    }
    part.append(...inside);
    return part;
  };
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
  const fine = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });
  const minus = (text) => text.replace("-", "−");
  const signed = (text, value) => (value > 0 ? `+${text}` : minus(text));
  const percent = (value) => `${(100 * value).toFixed(1)}%`;
  const people = (many) => (Math.round(many) === 1 ? "1 person" : `${whole.format(many)} people`);
  const points = (value) => {
    const text = (100 * value).toFixed(1);
    return Number(text) === 0 ? "0.0" : signed(text, value);
  };
  const shown = (value, metric) => {
    if (!Number.isFinite(value)) return "–";
    return metric.is_rate ? percent(value) : minus(fine.format(value));
  };

  // Groups that are alike in the chosen columns become one.
  const grouped = (columns) => {
    const places = columns.map((name) => counted.columns.indexOf(name));
    const found = new Map();
    counted.groups.forEach((parts, at) => {
      const own = places.map((place) => parts[place]);
      const name = own.every((part) => part === counted.merged) ? counted.merged : own.join(" × ");
      if (!found.has(name)) found.set(name, { name, parts: own, members: [] });
      found.get(name).members.push(at);
    });
    return [...found.values()];
  };

  const below = (bins, at) => {
    const full = Math.floor(at);
    return sum(bins.slice(0, full)) + (at > full ? (at - full) * bins[full] : 0);
  };
  // Of each truth, how many are selected and how many there are.
  const decided = (members, at) => counted.decided[0].map((_, truth) => {
    const all = sum(members.map((g) => sum(counted.decided[g][truth])));
    if (at === null) return [sum(members.map((g) => counted.decided[g][truth][1])), all];
    const under = sum(members.map((g) => below(score.counts[g][truth], at)));
    return [score.is_turned ? under : all - under, all];
  });
  const taken = (members, at) => sum(decided(members, at).map(([selected]) => selected));

  const values = (members, at) => {
    if (!counted.decided) {
      return Object.fromEntries(Object.entries(counted.ratios).map(([key, [over, under]]) =>
        [key, sum(members.map((g) => over[g])) / sum(members.map((g) => under[g]))]));
    }
    const rows = decided(members, at);
    const [wrong, right] = rows.length > 1 ? rows : [[0, 0], rows[0]];
    const [selected, all] = [wrong[0] + right[0], wrong[1] + right[1]];
    return {
      selected, all, right, wrong,
      selection_rate: selected / all,
      true_positive_rate: right[0] / right[1],
      false_positive_rate: wrong[0] / wrong[1],
      precision: right[0] / selected,
      accuracy: (right[0] + wrong[1] - wrong[0]) / all,
    };
  };

  // The place of everybody else's threshold at which as many are selected as before.
  const given_way = (others, many) => {
    let [low, high] = [0, score.at.length + 1];
    for (let step = 0; step < 60; step += 1) {
      const middle = (low + high) / 2;
      const more = taken(others, middle) > many;
      if (more === score.is_turned) high = middle;
      else low = middle;
    }
    return (low + high) / 2;
  };
  const places = (groups) => {
    const all = groups.flatMap(({ members }) => members);
    if (state.moved === null) return new Map(groups.map(({ name }) => [name, null]));
    if (state.whom === everyone) return new Map(groups.map(({ name }) => [name, state.moved]));
    const own = groups.find(({ name }) => name === state.whom);
    const others = all.filter((g) => !own.members.includes(g));
    const left = taken(all, null) - taken(own.members, state.moved);
    const rest = state.held && others.length ? given_way(others, left) : null;
    return new Map(groups.map(({ name }) => [name, name === state.whom ? state.moved : rest]));
  };

  const side = (value) => `score ${score.is_turned ? "below" : "at least"} ${minus(fine.format(value))}`;
  const threshold = (at) => {
    const place = Math.round(at);
    if (place <= 0) return "below all scores";
    if (place > score.at.length) return "above all scores";
    return side(score.at[place - 1]);
  };
  const first = counted.metrics[0];
  const gap = (groups, found) => {
    const known = groups.filter(({ name }) => Number.isFinite(found.get(name)[first.key]));
    const order = known.sort((a, b) => found.get(a.name)[first.key] - found.get(b.name)[first.key]);
    if (order.length < 2) return null;
    const [low, high] = [order[0], order.at(-1)];
    return { low, high, size: found.get(high.name)[first.key] - found.get(low.name)[first.key] };
  };

  const tell = (groups, found, was) => {
    const all = groups.flatMap(({ members }) => members);
    const sentences = [];
    const widest = gap(groups, found);
    const before = gap(groups, was);
    const apart = (size) => (first.is_rate ? `${(100 * size).toFixed(1)} points` : fine.format(size));
    if (counted.decided) {
      const selected = sum(groups.map(({ name }) => found.get(name).selected));
      const more = selected - taken(all, null);
      const many = sum(groups.map(({ name }) => found.get(name).all));
      const change = Math.round(more) ? `, ${whole.format(Math.abs(more))} ${more > 0 ? "more" : "fewer"} than decided` : state.moved === null ? "" : ", as many as decided";
      sentences.push(`${whole.format(selected)} of ${people(many)} are selected${change}.`);
    }
    if (widest) {
      const change = state.moved === null || !before ? "" : ` (${apart(before.size)} as decided)`;
      const [low, high] = [widest.low, widest.high].map(({ name }) => shown(found.get(name)[first.key], first));
      sentences.push(`${first.name}, largest gap: ${apart(widest.size)}${change}, from ${low} of ${widest.low.name} to ${high} of ${widest.high.name}.`);
    }
    if (state.moved !== null && counted.metrics.some(({ key }) => key === "accuracy")) {
      const right = (of) => sum(groups.map(({ name }) => of.get(name).right[0] + of.get(name).wrong[1] - of.get(name).wrong[0]));
      const many = sum(groups.map(({ name }) => found.get(name).all));
      sentences.push(`Accuracy ${percent(right(found) / many)} (${points((right(found) - right(was)) / many)} points).`);
    }
    one(".told").textContent = sentences.join(" ");
  };

  const opened = ({ name, parts, members }, own, reference, at) => {
    const lines = [];
    if (counted.decided) {
      lines.push(make("p", {}, `Of ${people(own.all)}, ${whole.format(own.selected)} are selected.`));
      if (counted.decided[0].length > 1) {
        const [missed, passed] = [own.right[1] - own.right[0], own.wrong[1] - own.wrong[0]];
        lines.push(make("p", {}, `Of ${whole.format(own.right[1])} whose true outcome is “${counted.favorable}”, ${whole.format(own.right[0])} are selected and ${whole.format(missed)} are not. Of the ${whole.format(own.wrong[1])} others, ${whole.format(own.wrong[0])} are selected and ${whole.format(passed)} are not.`));
      }
      const lack = reference.selection_rate * own.all - own.selected;
      if (Math.round(lack)) lines.push(make("p", {}, `At the rate of ${state.to || "everyone together"}, ${whole.format(Math.abs(lack))} ${lack > 0 ? "more" : "fewer"} would be selected.`));
    }
    const rest = counted.columns.filter((column) => !state.by.includes(column));
    for (const column of rest) {
      const inside = grouped([...state.by, column]).filter((part) => part.members.every((g) => members.includes(g)));
      const items = inside.map((part) => make("li", {}, make("bdi", {}, part.parts.at(-1)), `: ${shown(values(part.members, at)[first.key], first)} of ${people(sum(part.members.map((g) => counted.rows[g])))}`));
      lines.push(make("p", {}, `${first.name} by ${column}:`), make("ul", {}, ...items));
    }
    if (!rest.length && parts.length > 1) {
      const items = parts.map((part, i) => {
        const same = counted.groups.flatMap((own_parts, g) => (own_parts[counted.columns.indexOf(state.by[i])] === part ? [g] : []));
        return make("li", {}, make("bdi", {}, part), `: ${shown(values(same, null)[first.key], first)} of ${people(sum(same.map((g) => counted.rows[g])))}`);
      });
      lines.push(make("p", {}, "Each part of it alone, as decided:"), make("ul", {}, ...items));
    }
    return make("tr", { className: "opened" }, make("td", { colSpan: counted.metrics.length + (counted.decided ? 4 : 3), "data-of": name }, ...lines));
  };

  const open = new Set();
  const table = (groups, found, was, at) => {
    const all = groups.flatMap(({ members }) => members);
    const target = groups.find(({ name }) => name === state.to);
    // Everyone together, whatever each group's threshold: the sum of the groups.
    const total = counted.decided ? sum(groups.map(({ name }) => found.get(name).selected)) / sum(groups.map(({ name }) => found.get(name).all)) : values(all, null)[first.key];
    const reference = target ? found.get(target.name) : { [first.key]: total, selection_rate: total };
    const unit = first.is_rate ? ", points" : "";
    const heads = ["Group", counted.weighted ? "Rows" : "People", ...(counted.decided ? ["Selected"] : []), first.name, `Difference from ${state.to || "everyone"}${unit}`, ...counted.metrics.slice(1).map(({ name }) => name)];
    const head = make("thead", {}, make("tr", {}, ...heads.map((text, i) => make("th", { scope: "col", className: i ? "num" : "" }, text))));
    const drawn = [...groups].sort((a, b) => sum(b.members.map((g) => counted.rows[g])) - sum(a.members.map((g) => counted.rows[g]))).slice(0, MOST);
    const body = make("tbody");
    for (const group of groups.filter((each) => drawn.includes(each))) {
      const { name, members } = group;
      const [own, old] = [found.get(name), was.get(name)];
      const moved = state.moved !== null;
      const under = (text) => (moved ? [make("span", { className: "bound" }, text)] : []);
      const button = make("button", { type: "button", "aria-expanded": String(open.has(name)) }, make("bdi", {}, name));
      button.addEventListener("click", () => {
        if (!open.delete(name)) open.add(name);
        draw();
        [...root.querySelectorAll("tbody button")].find((each) => each.textContent === name)?.focus();
      });
      const apart = own[first.key] - reference[first.key];
      const cells = [make("td", {}, whole.format(sum(members.map((g) => counted.rows[g]))))];
      if (counted.decided) cells.push(make("td", {}, whole.format(own.selected), ...under(signed(whole.format(own.selected - old.selected), Math.round(own.selected - old.selected)))));
      cells.push(make("td", {}, shown(own[first.key], first), ...under(points(own[first.key] - old[first.key]))));
      cells.push(make("td", {}, !Number.isFinite(apart) ? "–" : first.is_rate ? points(apart) : signed(fine.format(apart), apart)));
      for (const metric of counted.metrics.slice(1)) cells.push(make("td", {}, shown(own[metric.key], metric)));
      body.append(make("tr", { "data-group": name }, make("th", { scope: "row" }, button), ...cells));
      if (open.has(name)) body.append(opened(group, own, reference, at.get(name)));
    }
    one("table").replaceChildren(head, body);
    const hidden = groups.length - drawn.length;
    one(".more").hidden = hidden <= 0;
    one(".more").textContent = `The ${MOST} largest of ${whole.format(groups.length)} groups.`;
  };

  const draw = () => {
    const groups = grouped(state.by);
    const at = places(groups);
    const found = new Map(groups.map(({ name, members }) => [name, values(members, at.get(name))]));
    const was = new Map(groups.map(({ name, members }) => [name, values(members, null)]));
    tell(groups, found, was);
    table(groups, found, was, at);
    const rest = [...at].find(([name]) => name !== state.whom);
    const output = one("output");
    if (output) {
      const others = state.whom !== everyone && state.held && state.moved !== null && rest ? `; everyone else: ${threshold(rest[1])}` : "";
      output.textContent = state.moved === null ? "as decided" : `${threshold(state.moved)}${others}`;
      one("[name=at]").setAttribute("aria-valuetext", output.textContent);
    }
    const audit = one("button[name=audit]");
    if (audit) audit.disabled = state.moved === null || state.whom !== everyone || state.moved < 1 || state.moved > score.at.length;
    const undo = one("button[name=undo]");
    if (undo) undo.disabled = state.moved === null;
    write(at);
  };

  // The thresholds as a query, where a server writes it.
  const edge = (place) => (place < 1 ? "all" : place > score.at.length ? "none" : String(score.at[place - 1]));
  const write = (at) => {
    const part = document.querySelector("#rule");
    if (!part) return;
    const [link, told] = [part.querySelector("a"), part.querySelector("span")];
    const moved = state.moved !== null;
    const rest = [...at].find(([name]) => name !== state.whom)?.[1] ?? null;
    const known = score && (score.decided_at !== null || (moved && (state.whom === everyone || rest !== null)));
    if (!known) {
      link.removeAttribute("href");
      told.textContent = "The decisions in this file are not by a threshold: move one above first.";
      return;
    }
    const asked = [["dialect", part.querySelector("select").value]];
    if (moved) asked.push(["own", edge(state.moved)]);
    if (moved && state.whom !== everyone) {
      asked.push(...state.by.map((name) => ["by", name]));
      asked.push(...grouped(state.by).find(({ name }) => name === state.whom).parts.map((name) => ["who", name]));
      const low = rest === null ? null : Math.floor(rest);
      if (low !== null) asked.push(["rest", edge(low)], ["rest", edge(low + 1)], ["rest", String(rest - low)]);
    }
    link.href = `${part.dataset.href}&${new URLSearchParams(asked)}`;
    const said = moved ? one("output").textContent : side(score.decided_at);
    told.textContent = `As explored above: ${moved && state.whom !== everyone ? `${state.whom}: ` : ""}${said}.`;
  };

  const choice = (label, name, options, chosen, changed) => {
    const select = make("select", { name }, ...options.map(([value, text]) => make("option", { value, selected: value === chosen }, text)));
    select.addEventListener("change", () => changed(select.value));
    return make("label", {}, make("span", { className: "label" }, label), select);
  };
  const controls = () => {
    const form = one("form");
    const groups = grouped(state.by);
    const names = groups.slice(0, MOST).map(({ name }) => [name, name]);
    if (!groups.some(({ name }) => name === state.to)) state.to = everyone;
    if (!groups.some(({ name }) => name === state.whom)) state.whom = everyone;
    const parts = [];
    if (counted.columns.length > 1) {
      const boxes = counted.columns.map((name) => {
        const box = make("input", { type: "checkbox", name: "by", value: name, checked: state.by.includes(name) });
        box.addEventListener("change", () => {
          const by = counted.columns.filter((each) => (each === name ? box.checked : state.by.includes(each)));
          if (!by.length) { box.checked = true; return; }
          Object.assign(state, { by, moved: state.whom === everyone ? state.moved : null });
          open.clear();
          again(`input[value="${CSS.escape(name)}"]`);
        });
        return make("label", {}, box, " ", make("bdi", {}, name));
      });
      parts.push(make("fieldset", {}, make("legend", {}, "Groups by"), ...boxes));
    }
    parts.push(choice("Compare with", "to", [[everyone, "everyone together"], ...names], state.to, (value) => { state.to = value; draw(); }));
    if (score && score.at.length) {
      parts.push(choice("Move the threshold of", "whom", [[everyone, "everyone"], ...names], state.whom, (value) => {
        Object.assign(state, { whom: value, moved: null, held: value !== everyone && state.held });
        again("select[name=whom]");
      }));
      const kinds = [["free", "free", false], ["held", "held", true]].map(([value, text, held]) => {
        const button = make("input", { type: "radio", name: "number", value, checked: state.held === held, disabled: held && state.whom === everyone });
        button.addEventListener("change", () => { state.held = held; draw(); });
        return make("label", {}, button, ` ${text}`);
      });
      parts.push(make("fieldset", {}, make("legend", {}, "Number selected"), ...kinds));
      const start = score.decided_at === null ? score.at.length / 2 : score.at.filter((edge) => edge < score.decided_at).length + 1;
      const range = make("input", { type: "range", name: "at", min: 0, max: score.at.length + 1, step: 1, "aria-label": "Threshold" });
      range.value = state.moved ?? start;
      range.addEventListener("input", () => { state.moved = Number(range.value); draw(); });
      const label = make("div", { className: "slide" }, make("span", { className: "label" }, "Threshold: ", make("output")), range);
      const undo = make("button", { type: "button", name: "undo" }, "As decided");
      undo.addEventListener("click", () => { state.moved = null; range.value = start; draw(); });
      parts.push(label, undo);
      const field = document.querySelector("#choices [name^=threshold]");
      if (field) {
        const audit = make("button", { type: "button", name: "audit" }, "Audit at this threshold");
        audit.addEventListener("click", () => {
          field.value = String(score.at[Math.round(state.moved) - 1]);
          field.dispatchEvent(new Event("change", { bubbles: true }));
        });
        parts.push(audit);
      }
    }
    form.replaceChildren(...parts);
  };
  document.querySelector("#rule select")?.addEventListener("change", () => draw());
  const again = (focus) => { controls(); draw(); one(focus)?.focus(); };
  one("form").addEventListener("submit", (event) => event.preventDefault());
  controls();
  draw();
})();
