// SPDX-License-Identifier: Apache-2.0
// Finds sections of the pages by the words in them. The list of sections is a script of its own, js/sections.js, made with the site: a browser lets a
// page from a disk load a script, and fetch nothing else. A few hundred sections are looked through faster than a key is pressed: there is no index
// beyond the list, and no library.
"use strict";
(() => {
  const MOST = 12;
  let sections = [];

  const made = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };

  const box = made("input", {id: "search", type: "search", autocomplete: "off", placeholder: "Search: /"});
  const count = made("span", {role: "status"});
  const list = made("ul", {});
  const form = made("form", {id: "search-form", role: "search"}, made("label", {for: "search"}, "Search the pages"), box, count, list);

  // Headings before titles of pages before text; the beginning of a word before its middle; often before once. Zero if a word is missing.
  const score = (section, words) => {
    let sum = 0;
    for (const word of words) {
      const start = " " + word;
      const own = section.low.reduce((best, text, place) => {
        const weight = [1, 10, 30][place];
        return Math.max(best, text.includes(start) ? 2 * weight : text.includes(word) ? weight : 0);
      }, 0);
      if (own === 0) {
        return 0;
      }
      sum += own + Math.min(9, section.low[0].split(word).length - 1);
    }
    return sum;
  };

  const near = (text, word) => {
    const hit = text.toLowerCase().indexOf(word);
    const from = hit < 40 ? 0 : text.indexOf(" ", hit - 40) + 1;
    const to = from + 140 < text.length ? text.lastIndexOf(" ", from + 140) : text.length;
    return (from > 0 ? "… " : "") + text.slice(from, to) + (to < text.length ? " …" : "");
  };

  const show = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(word => word.length > 1);
    const found = sections
      .map(section => ({section, score: words.length ? score(section, words) : 0}))
      .filter(each => each.score > 0)
      .sort((a, b) => b.score - a.score);
    count.textContent = words.length === 0 || sections.length === 0 ? "" : found.length === 1 ? "1 section" : found.length + " sections";
    list.replaceChildren(...found.slice(0, MOST).map(({section}) => made("li", {},
      made("a", {href: section.page + (section.anchor ? "#" + section.anchor : "")},
        section.heading === section.title ? section.title : section.title + ": " + section.heading),
      made("p", {}, near(section.text, words[0])))));
  };

  // Called by js/sections.js.
  window.kilnSections = all => {
    sections = all.map(([page, anchor, title, heading, text]) =>
      ({page, anchor, title, heading, text, low: [text, title, heading].map(each => " " + each.toLowerCase().replace(/[`(/"]/g, " "))}));
    show();
  };

  let isLoading = false;
  const load = () => {
    if (!isLoading) {
      isLoading = true;
      document.head.append(made("script", {src: "./js/sections.js"}));
    }
  };

  const move = (event, step) => {
    const stops = [box, ...list.querySelectorAll("a")];
    const next = stops[stops.indexOf(document.activeElement) + step];
    if (next && stops.includes(document.activeElement)) {
      event.preventDefault();
      next.focus();
    }
  };

  document.addEventListener("DOMContentLoaded", () => {
    (document.getElementById("breadcrumbs") || document.body).after(form);
    box.addEventListener("focus", load);
    box.addEventListener("input", show);
    form.addEventListener("submit", event => {
      event.preventDefault();
      list.querySelector("a")?.click();
    });
    form.addEventListener("keydown", event => {
      if (event.key === "ArrowDown") {
        move(event, 1);
      } else if (event.key === "ArrowUp") {
        move(event, -1);
      } else if (event.key === "Escape") {
        box.value = "";
        box.focus();
        show();
      }
    });
    document.addEventListener("keydown", event => {
      if (event.key === "/" && !event.ctrlKey && !event.metaKey && !(event.target.closest && event.target.closest("input, textarea"))) {
        event.preventDefault();
        box.focus();
      }
    });
    // Another page, or a bookmark, may ask: index.html?find=workspace
    const asked = new URLSearchParams(location.search).get("find");
    if (asked) {
      box.value = asked;
      load();
    }
  });
})();
