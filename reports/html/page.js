"use strict";
// Shows one state of each counterexample at a time. Without this script all states are on the page.
document.documentElement.classList.add("js");
const wide = matchMedia("(min-width: 60.01rem)"); // story and state stand side by side
for (const player of document.querySelectorAll(".player")) {
  const run = player.closest(".finding");
  const states = [...player.querySelectorAll(".state")];
  const rows = [...run.querySelectorAll("[data-row]")];
  const slider = player.querySelector("input");
  const position = player.querySelector("output");
  const buttons = [...player.querySelectorAll("[data-move]")];
  const last = states.length - 1;

  function show(wanted, follow = true) {
    const step = Math.min(last, Math.max(0, wanted));
    states.forEach((state, number) => { state.hidden = number !== step; });
    rows.forEach((row) => {
      const current = Number(row.dataset.row) === step;
      row.classList.toggle("current", current);
      if (current) row.setAttribute("aria-current", "step"); else row.removeAttribute("aria-current");
    });
    const row = rows.find((one) => Number(one.dataset.row) === step);
    if (follow && row && wide.matches) row.scrollIntoView({ block: "nearest" });
    slider.value = String(step);
    slider.setAttribute("aria-valuetext", states[step].dataset.title);
    position.value = `${step} / ${last}`;
    buttons.forEach((button) => {
      button.disabled = Number(button.dataset.move) < 0 ? step === 0 : step === last;
    });
  }

  function moved(key) {
    const step = Number(slider.value);
    return { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: last }[key];
  }

  slider.addEventListener("input", () => show(Number(slider.value)));
  buttons.forEach((button) => button.addEventListener("click", () => show(Number(slider.value) + Number(button.dataset.move))));
  run.addEventListener("click", (event) => {
    const link = event.target.closest("[data-step]");
    if (link) {
      event.preventDefault();
      show(Number(link.dataset.step));
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (nearest() !== player) return;
    const step = moved(event.key);
    if (step === undefined) return;
    event.preventDefault();
    show(step);
  });
  player.querySelector(".controls").hidden = false;
  show(Number((location.hash.match(new RegExp(`^#${run.id}-state-(\\d+)$`)) || [0, 0])[1]), false);
}

// The keys are for the counterexample that has the focus, or else for the first that is not above the window.
function nearest() {
  const focused = document.activeElement.closest(".finding");
  if (focused) return focused.querySelector(".player");
  const below = (player) => player.closest(".finding").getBoundingClientRect().bottom > 0;
  return [...document.querySelectorAll(".player")].find(below);
}
