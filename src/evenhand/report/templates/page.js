(() => {
  "use strict";
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const controls = document.querySelector(".controls");
  const chosen = { measure: "", criterion: "" };

  const choose = () => {
    for (const part of all("[data-measure], [data-criterion]")) {
      const { measure, criterion } = part.dataset;
      const wrong = (asked, own) => asked !== "" && own !== undefined && own !== asked;
      part.hidden = wrong(chosen.measure, measure) || wrong(chosen.criterion, criterion);
    }
  };

  const filter = (text) => {
    const wanted = text.trim().toLocaleLowerCase();
    const found = new Set();
    for (const part of all("[data-group], .all-groups tbody tr")) {
      const group = part.dataset.group ?? part.cells[0].textContent;
      const fits = group.toLocaleLowerCase().includes(wanted);
      if (fits && part.dataset.group !== undefined) found.add(group);
      if (part.matches("tr")) part.hidden = !fits;
      else part.classList.toggle("dim", !fits);
    }
    const told = found.size === 1 ? "1 group on this page matches" : `${found.size} groups on this page match`;
    controls.querySelector(".matches").textContent = wanted ? `${told} “${text.trim()}”.` : "";
  };

  const key = (row, column, kind) => {
    const cell = row.cells[column];
    const text = cell.dataset.key ?? cell.textContent.trim();
    if (kind !== "number") return text.toLocaleLowerCase();
    const value = parseFloat(text.replace(/[,<+]/g, "").replace("−", "-"));
    return Number.isNaN(value) ? -Infinity : value;
  };

  const sort = (heading) => {
    const table = heading.closest("table");
    const body = table.tBodies[0];
    const column = heading.cellIndex;
    const kind = heading.dataset.sort;
    const up = heading.getAttribute("aria-sort") === (kind === "number" ? "descending" : null);
    const falling = kind === "number" ? !up : heading.getAttribute("aria-sort") === "ascending";
    for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const rows = [...body.rows].map((row) => [key(row, column, kind), row]);
    const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    rows.sort(([a], [b]) => (falling ? order(b, a) : order(a, b)));
    body.append(...rows.map(([, row]) => row));
  };

  const dark = () => {
    const asked = root.dataset.theme;
    return asked ? asked === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };

  const remember = (theme) => {
    try { localStorage.setItem("evenhand-theme", theme); } catch { /* a private window forgets */ }
  };

  const remembered = () => {
    try { return localStorage.getItem("evenhand-theme"); } catch { return null; }
  };

  const follow = () => {
    const links = new Map(all("nav a[href^='#']").map((link) => [link.hash.slice(1), link]));
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const link of links.values()) link.removeAttribute("aria-current");
        links.get(entry.target.id)?.setAttribute("aria-current", "true");
      }
    }, { rootMargin: "-15% 0px -75% 0px" });
    for (const id of links.keys()) seen.observe(document.getElementById(id));
  };

  if (["light", "dark"].includes(remembered())) root.dataset.theme = remembered();
  for (const heading of all(".sortable th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sort(heading));
  }
  controls.hidden = false;
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("change", ({ target }) => {
    if (!(target.name in chosen)) return;
    chosen[target.name] = target.value;
    choose();
  });
  controls.elements.group.addEventListener("input", ({ target }) => filter(target.value));
  controls.elements.theme.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    remember(root.dataset.theme);
  });
  controls.elements.open.addEventListener("click", ({ target }) => {
    const folds = all("details.fold");
    const open = folds.some((part) => !part.open);
    for (const part of folds) part.open = open;
    target.textContent = open ? "Close all" : "Open all";
  });
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.matches("details")) target.open = true;
  };
  addEventListener("hashchange", reveal);
  reveal();
  follow();
})();
