(() => {
  "use strict";
  const one = (selector, within = document) => within.querySelector(selector);
  const doing = one("#doing");
  const here = location.pathname;
  let asking = null;

  const say = (text) => {
    const place = one("#problem");
    if (!place) return;
    place.textContent = text;
    place.hidden = !text;
  };

  // What is being done, if that takes longer than a moment.
  const watch = (address) => {
    const look = async () => {
      const found = await fetch(`${address}/progress`).then((answer) => answer.json()).catch(() => ({}));
      if (!found.doing) return;
      doing.hidden = false;
      one("span", doing).textContent = `${found.doing} …`;
      const bar = one("progress", doing);
      if (typeof found.share === "number") bar.value = found.share;
      else bar.removeAttribute("value");
    };
    const timer = setInterval(look, 400);
    return () => { clearInterval(timer); doing.hidden = true; };
  };

  const cancel = () => {
    const address = here.startsWith("/files/") ? here : "";
    fetch(`${address}/cancel`, { method: "POST" });
    if (asking instanceof XMLHttpRequest) asking.abort();
  };

  // What was shown is of other answers than those that stand above it now.
  const outdated = () => {
    const told = document.createElement("p");
    told.className = "caution";
    told.textContent = "Stopped. “Show the audit” asks again.";
    one("#answer")?.replaceChildren(told);
  };

  const send = (address, file) => new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      doing.hidden = false;
      one("span", doing).textContent = "Taking the file in …";
      one("progress", doing).value = total ? loaded / total : 0;
    });
    request.addEventListener("load", () => {
      let told = {};
      try { told = JSON.parse(request.responseText); } catch { /* no words of ours */ }
      if (request.status === 200) done(told);
      else failed(new Error(told.problem ?? "The file could not be opened."));
    });
    request.addEventListener("error", () => failed(new Error("The program behind this page has ended.")));
    request.addEventListener("abort", () => failed(new Error("Stopped.")));
    asking = request;
    request.send(file);
  });

  const take = async (address, file) => {
    say("");
    const quiet = watch(here.startsWith("/files/") ? here : "");
    try {
      const { href } = await send(address, file);
      location.assign(href);
    } catch (failure) {
      say(failure.message);
    } finally {
      quiet();
      asking = null;
    }
  };

  const dropped = (file) => take(`/open?name=${encodeURIComponent(file.name)}`, file);

  // A newer answer replaces the page's parts; what was open and where one was stays.
  const place = (page) => {
    const at = document.activeElement?.id;
    const open = new Set([...document.querySelectorAll("details[open][id]")].map((part) => part.id));
    const shut = new Set([...document.querySelectorAll("details:not([open])[id]")].map((part) => part.id));
    for (const selector of ["main", "nav ol"]) one(selector).replaceWith(one(selector, page));
    for (const part of document.querySelectorAll("details[id]")) {
      if (open.has(part.id)) part.open = true;
      else if (shut.has(part.id)) part.open = false;
    }
    document.title = page.title;
    if (at) document.getElementById(at)?.focus({ preventScroll: true });
    begin();
  };

  // Tests take longer than counts, and are put in their place when they are done.
  const test = async (mine) => {
    const part = one("#tests[data-href]");
    if (!part) return;
    one("#answer").removeAttribute("aria-busy");
    const got = await fetch(part.dataset.href, { signal: mine.signal });
    if (mine !== asking || !part.isConnected) return;
    const told = new DOMParser().parseFromString(await got.text(), "text/html");
    if (got.status === 200) {
      part.replaceChildren(...one("main", told).childNodes);
      const take = one("nav a[href='#take']").parentElement;
      for (const link of told.querySelectorAll("ol > li")) take.before(link);
      one("#questions h1")?.remove();
      document.title = told.title;
      controls();
    } else {
      const say = document.createElement("p");
      say.className = "caution";
      say.textContent = got.status === 409 ? "Stopped." : one(".caution", told)?.textContent ?? "";
      part.replaceChildren(say);
      if (got.status !== 409) one("#take")?.remove();
    }
    part.removeAttribute("aria-busy");
    part.removeAttribute("data-href");
  };

  const begun = async () => {
    if (!one("#tests[data-href]")) return;
    asking = new AbortController();
    const mine = asking;
    const quiet = watch(here);
    try {
      await test(mine);
    } catch (failure) {
      if (failure.name !== "AbortError") say("The program behind this page has ended.");
    } finally {
      quiet();
      if (mine === asking) asking = null;
    }
  };

  const ask = async (address) => {
    asking?.abort();
    asking = new AbortController();
    const mine = asking;
    const answer = one("#answer");
    answer?.setAttribute("aria-busy", "true");
    const quiet = watch(here);
    let placed = false;
    try {
      const got = await fetch(address, { signal: mine.signal });
      if (got.status === 409) return;
      const page = new DOMParser().parseFromString(await got.text(), "text/html");
      if (mine !== asking) return;
      if (!one("main", page)) return say("The program behind this page has ended.");
      history.replaceState(null, "", address);
      place(page);
      placed = true;
      await test(mine);
    } catch (failure) {
      if (failure.name !== "AbortError") say("The program behind this page has ended.");
    } finally {
      quiet();
      if (mine === asking) {
        asking = null;
        one("#answer")?.removeAttribute("aria-busy");
        if (!placed) outdated();
      }
    }
  };

  const address = (form) => {
    const query = new URLSearchParams();
    for (const [key, value] of new FormData(form)) if (value !== "") query.append(key, value);
    return `${here}?${query}`;
  };

  const slider = (field) => {
    const range = document.createElement("input");
    const [low, high] = [Number(field.dataset.low), Number(field.dataset.high)];
    if (!(low < high)) return;
    Object.assign(range, { type: "range", min: low, max: high, step: (high - low) / 200, value: field.value || low });
    range.setAttribute("aria-label", "Move the threshold");
    range.addEventListener("input", () => { field.value = String(Number(Number(range.value).toPrecision(4))); });
    field.after(range);
  };

  const run = (name) => {
    const script = document.createElement("script");
    script.src = `/static/${name}.js`;
    document.body.append(script);
    script.addEventListener("load", () => script.remove());
  };

  const controls = () => {
    if (one("#answer .controls")) run("page");
  };

  // A file is saved once it is there; what could not be made says why on the page.
  const save = async (href) => {
    const told = one("#refused");
    told.hidden = true;
    const quiet = watch(here);
    try {
      const got = await fetch(href);
      if (!got.ok) {
        const page = new DOMParser().parseFromString(await got.text(), "text/html");
        throw new Error(one(".caution", page)?.textContent ?? "This file could not be made.");
      }
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await got.blob());
      link.download = decodeURIComponent(got.headers.get("content-disposition").split("''")[1]);
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    } catch (failure) {
      told.textContent = failure instanceof TypeError ? "The program behind this page has ended." : failure.message;
      told.hidden = false;
      told.scrollIntoView({ block: "nearest" });
    } finally {
      quiet();
    }
  };
  const taken = (part) => {
    part.addEventListener("click", (event) => {
      const link = event.target.closest("a[download][href]");
      if (!link) return;
      event.preventDefault();
      save(link.href);
    });
    part.addEventListener("submit", (event) => {
      event.preventDefault();
      const stated = [...new FormData(event.target)].filter(([, value]) => value !== "");
      const query = new URLSearchParams(stated.map(([name, value]) => ["state", `${name}=${value}`]));
      save(`${event.target.dataset.href}&${query}`);
    });
  };

  const begin = () => {
    const choices = one("#choices");
    if (choices) {
      choices.addEventListener("submit", (event) => { event.preventDefault(); ask(address(choices)); });
      choices.addEventListener("change", () => ask(address(choices)));
      for (const field of choices.querySelectorAll("input[data-low]")) slider(field);
      one("#saved input").addEventListener("change", ({ target }) => {
        if (target.files[0]) take(`${here}/choices`, target.files[0]);
      });
    }
    if (one("#take")) taken(one("#take"));
    if (one("#explore")) run("explore");
    controls();
  };

  one("button", doing).addEventListener("click", cancel);
  const drop = one("#drop");
  if (drop) {
    one("#chosen").addEventListener("change", ({ target }) => target.files[0] && dropped(target.files[0]));
    drop.addEventListener("submit", (event) => event.preventDefault());
  }
  addEventListener("dragover", (event) => { event.preventDefault(); drop?.classList.add("over"); });
  addEventListener("dragleave", () => drop?.classList.remove("over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    drop?.classList.remove("over");
    const [file] = event.dataTransfer.files;
    if (file) dropped(file);
  });
  begin();
  begun();
})();
