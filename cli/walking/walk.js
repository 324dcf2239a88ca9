"use strict";
// What comes from a scenario is text, and becomes nothing else: elements are made here, and filled by textContent.
const at = (id) => document.getElementById(id);
let place = null;
let busy = false;
let typed = "";

function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value);
  }
  for (const child of children) if (child !== null) made.append(child);
  return made;
}

const fill = (id, ...children) => at(id).replaceChildren(...children);
const text = (id, words) => { at(id).textContent = words; };

function say(words, problem = false) {
  text("said", words);
  at("said").classList.toggle("problem", problem);
}

async function ask(what, more = {}, quiet = false) {
  if (busy) return null;
  if (!quiet) {  // a quiet question is in nobody's way: a click while it is answered counts
    busy = true;
    document.documentElement.classList.add("busy");
  }
  if (["find", "reach", "wrong"].includes(what)) say("Searching ...");
  try {
    const walk = place === null ? remembered() : place.walk;
    const answer = await fetch("ask", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ do: what, walk, ...more }),
    });
    const found = answer.headers.get("Content-Type").startsWith("application/json") ? await answer.json() : { problem: await answer.text() };
    if (!quiet || found.problem) say(found.problem || found.said || "", Boolean(found.problem));
    if (found.shown) show(found.shown);
    return found.problem ? null : found;
  } catch {
    say("podrace does not answer: was it ended?", true);
    return null;
  } finally {
    if (!quiet) {
      busy = false;
      document.documentElement.classList.remove("busy");
    }
  }
}

function remembered() {
  try { return JSON.parse(sessionStorage.getItem(location.pathname)) || {}; } catch { return {}; }
}

function lanes(steps) {
  const actors = [];
  for (const step of steps) if (!actors.includes(step.actor)) actors.push(step.actor);
  return (actor) => `lane-${actors.indexOf(actor) % 8}`;
}

function show(shown) {
  place = shown;
  typed = "";
  try { sessionStorage.setItem(location.pathname, JSON.stringify(shown.walk)); } catch { /* it is only for a reload */ }
  const { walk, steps } = shown;
  fill("dangers");
  const size = steps.length;
  const name = `${shown.scenario}, ${shown.release}`;
  text("title", shown.title ? `${shown.title} (${name})` : name);
  fill("opening", ...[...shown.opening, ...shown.notes].map((line) => el("p", {}, line)));
  text("position", `${walk.at} / ${size}`);
  at("back").disabled = walk.at === 0;
  at("forward").disabled = walk.at === size;
  at("save").disabled = walk.at === 0;
  const now = walk.at ? steps[walk.at - 1] : null;
  text("where", now ? `After step ${walk.at}: ${now.sentence}` : "Before the first step");
  fill("notes", ...(now ? now.notes.map((note) => el("p", { class: "note split" }, note)) : []));
  fill("violated", ...shown.violated.map(violation));
  showNext(shown);
  showWalk(shown);
  showState(shown);
}

function violation(one) {
  const said = one.wrong.length ? one.wrong.join(" ") : one.sentence;
  return el("p", { class: one.asked ? "broken" : "broken other", title: one.sentence }, el("b", {}, `${one.property} is violated`), `: ${said}`);
}

function showNext(shown) {
  const lane = lanes([...shown.steps, ...shown.choices]);
  const rows = [];
  let actor = null;
  shown.choices.forEach((choice, i) => {
    if (choice.actor !== actor) rows.push(el("p", { class: `actor ${lane(choice.actor)}` }, choice.actor));
    actor = choice.actor;
    rows.push(el(
      "button", { type: "button", class: `choice ${lane(actor)}`, onclick: () => ask("take", { number: choice.number }) },
      el("b", {}, `${i + 1}`), el("span", {}, choice.sentence, el("small", {}, choice.call)),
    ));
  });
  fill("next", ...(rows.length ? rows : [el("p", {}, "No step can come next.")]));
  text("why-heading", `Why not one of the other ${shown.barred} steps?`);
  if (at("why").open) queueMicrotask(why);
}

async function why() {
  const of = place;
  const found = await ask("why", { words: at("why-words").value }, true);
  if (!found || of !== place) return;
  const rows = found.why.slice(0, 60).map((one) => el(
    "div", { class: "barred" }, el("b", {}, one.actor), ` ${one.call}`,
    ...one.conditions.map((c) => el(
      "p", {}, c.constraint ? `the scope bounds ${c.constraint}` : `needs: ${c.needed}`, c.there.length ? `; there: ${c.there.join("; ")}` : "",
    )),
  ));
  if (found.why.length > 60) rows.push(el("p", {}, `and ${found.why.length - 60} more: say more words`));
  fill("barred", ...rows);
}

function showWalk(shown) {
  const line = (words, i) => el("li", {}, el(
    "button", {
      type: "button", class: i > shown.walk.at ? "ahead" : null, "aria-current": i === shown.walk.at ? "step" : null,
      onclick: () => ask("jump", { number: i }),
    }, words,
  ));
  fill("taken", line("The start", 0), ...shown.steps.map((step, i) => line(step.sentence, i + 1)));
  fill("branches", ...shown.branches.map((words, i) => el(
    "p", {}, el("button", { type: "button", onclick: () => ask("branch", { number: i + 1 }) }, `Branch ${i + 1}: ${words}`),
  )));
}

function showState(shown) {
  fill("scenes", ...shown.scenes.map((scene) => el(
    "figure", { class: "cluster" }, el("figcaption", {}, scene.title),
    ...scene.boxes.map((box) => {
      const used = box.pods.reduce((sum, pod) => sum + pod.size, 0);
      const kind = `box${box.exists ? "" : " gone"}${used > box.capacity ? " full" : ""}`;
      return el(
        "div", { class: kind }, el("b", {}, box.name), ` ${box.label}${box.exists ? "" : " (gone)"}${used > box.capacity ? " - overfull" : ""}`, el("br"),
        ...box.pods.map((pod) => chip(pod, "")), ...box.nominated.map((pod) => chip(pod, "nominated")),
      );
    }),
    scene.pending.length ? el("div", {}, "Pending: ", ...scene.pending.map((pod) => chip(pod, ""))) : null,
  )));
  const heads = shown.subjects.map((name) => el("th", { scope: "col" }, name));
  const rows = shown.views.map((view) => {
    const own = Object.entries(view.said).filter(([subject]) => !shown.subjects.includes(subject));
    const head = el("th", { scope: "row" }, el("span", {}, view.name), ...own.flatMap(([, facts]) => facts.map(fact)));
    if (!view.there) return el("tr", {}, head, el("td", { class: "nothing", colspan: shown.subjects.length }, "not taken"));
    return el("tr", {}, head, ...shown.subjects.map((subject) => {
      const facts = view.said[subject] || [];
      return el("td", { "data-column": subject }, ...(facts.length ? facts.map(fact) : [el("span", { class: "nothing" }, "–")]));
    }));
  });
  fill("views", el("div", { class: "scroll", role: "region", "aria-label": "What each component knows", tabindex: 0 }, el(
    "table", { class: "memory" }, el("caption", {}, "What each component knows"),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "component"), ...heads)), el("tbody", {}, ...rows),
  )));
  fill("events", ...shown.events.map((event) => el(
    "p", {}, el("b", {}, event.subject), `: ${event.words}; on its way on the ${event.channel} `,
    el("span", { class: "waits" }, `→ still to reach ${event.waits_for.join(", ")}`),
  )));
}

function chip(pod, kind) {
  const more = `${pod.assumed ? " assumed" : ""}${pod.terminating ? " terminating" : ""}`;
  const said = [kind, pod.assumed ? "assumed" : "", pod.terminating ? "being deleted" : ""].filter(Boolean).join(", ");
  return el("span", { class: `chip ${kind}${more}`, title: pod.label }, said ? `${pod.name} (${said})` : pod.name);
}

function fact(one) {
  const said = [one.changed ? "changed by this step" : "", one.disputed ? "views differ" : ""].filter(Boolean).join(", ");
  return el(
    "span", { class: `fact${one.changed ? " changed" : ""}${one.disputed ? " disputed" : ""}`, title: said || null },
    one.text, said ? el("span", { class: "sr" }, ` (${said})`) : null,
  );
}

async function save() {
  const found = await ask("save");
  if (!found) return;
  const link = el("a", { href: URL.createObjectURL(new Blob([found.trace], { type: "application/json" })), download: "walk.json" });
  document.body.append(link);
  link.click();
  link.remove();
  say("Saved as walk.json: podrace replay walk.json executes it again, podrace reproduce walk.json --run does so on the real scheduler.");
}

async function wrong() {
  const found = await ask("wrong");
  if (!found) return;
  fill("dangers", ...found.wrong.map((one) => el("p", {}, one.there
    ? el("button", { type: "button", onclick: () => ask("find", { words: one.property }) }, one.words) : one.words)));
}

async function share() {
  const found = await ask("line");
  if (found) say(found.line);
}

function digit(key) {
  typed += key;
  const wanted = Number(typed);
  const count = place.choices.length;
  if (wanted < 1 || wanted > count) { typed = ""; say(`There is no step ${wanted} to take.`, true); return; }
  if (wanted * 10 > count) take(wanted);
  else say(`Step ${typed}: Enter takes it, or type another digit.`);
}

function take(wanted) {
  typed = "";
  ask("take", { number: place.choices[wanted - 1].number });
}

const back = () => place.walk.at > 0 && ask("jump", { number: place.walk.at - 1 });
const forward = () => place.walk.at < place.steps.length && ask("jump", { number: place.walk.at + 1 });
const KEYS = {
  ArrowLeft: back, ArrowRight: forward, Home: () => ask("jump", { number: 0 }), End: () => ask("jump", { number: place.steps.length }),
  "/": () => at("words").focus(), w: () => { at("why").open = !at("why").open; }, l: share, x: wrong, "?": () => at("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || place === null || at("keys").open) return;
  if (event.target instanceof HTMLInputElement) { if (event.key === "Escape") event.target.blur(); return; }
  if (/^[0-9]$/.test(event.key)) digit(event.key);
  else if (event.key === "Enter" && typed) take(Number(typed));
  else if (Object.hasOwn(KEYS, event.key)) KEYS[event.key]();
  else return;
  event.preventDefault();
});
at("back").addEventListener("click", back);
at("forward").addEventListener("click", forward);
at("save").addEventListener("click", save);
at("wrong").addEventListener("click", wrong);
at("share").addEventListener("click", share);
at("help").addEventListener("click", () => at("keys").showModal());
at("why").addEventListener("toggle", () => at("why").open && why());
at("why-words").addEventListener("change", why);
at("search").addEventListener("submit", (event) => {
  event.preventDefault();
  at("words").blur();
  ask(event.submitter ? event.submitter.value : "find", { words: at("words").value });
});
ask("show").then((found) => {
  if (found || place !== null) return;
  sessionStorage.removeItem(location.pathname);
  ask("show");
});
