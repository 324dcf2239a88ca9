// Finds sections by their words. The index is in search-index.js, made when the pages are: nothing is fetched.
"use strict";
(() => {
  const box = document.querySelector("#search");
  const list = document.querySelector("#found");
  const MOST = 12;

  // Every word that is asked for begins a word of the section; those in headings count more.
  const score = (section, asked) => {
    let sum = 0;
    for (const word of asked) {
      const inHeading = section.heading.toLowerCase().includes(word);
      if (!inHeading && !section.words.includes(` ${word}`)) return 0;
      sum += inHeading ? 3 : 1;
    }
    return sum;
  };

  const show = () => {
    const asked = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = asked.length === 0 ? [] : SECTIONS
      .map((section) => [score(section, asked), section])
      .filter(([points]) => points > 0)
      .sort((one, other) => other[0] - one[0])
      .slice(0, MOST);
    list.replaceChildren(...found.map(([, section]) => {
      const link = document.createElement("a");
      link.href = section.link;
      link.textContent = section.heading === section.page ? section.page : `${section.page}: ${section.heading}`;
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
    if (asked.length > 0 && found.length === 0) {
      const item = document.createElement("li");
      item.textContent = "nothing found";
      list.append(item);
    }
  };

  box.hidden = false;
  box.addEventListener("input", show);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { box.value = ""; show(); }
    if (event.key === "Enter" && list.querySelector("a")) list.querySelector("a").click();
  });
})();
