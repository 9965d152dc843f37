// dom.js -- elements, messages and forms, for all views.
//
// Text is always set as text: nothing that somebody typed becomes markup.
//
// SPDX-License-Identifier: MIT

// el("a", { class: "brand", href: "#/" }, "Trestle"): a function is a listener, true an empty attribute, and null or
// false leave it out; children may be nested lists with gaps.
export function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function")
            node.addEventListener(name.replace(/^on/, ""), value);
        else if (value !== null && value !== undefined && value !== false)
            node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return node;
}

let unique = 0;

// A label and its input, with room for a hint.
export function field(label, attributes, hint = null) {
    const id = `field-${++unique}`;
    const input = el("input", { id, ...(hint ? { "aria-describedby": `${id}-hint` } : {}), ...attributes });
    return { input, node: el("p", { class: "field" }, el("label", { for: id }, label), input,
        hint && el("small", { id: `${id}-hint` }, hint)) };
}

const PANES = { news: null, alarm: null };

function show(pane, text) {
    clearTimeout(PANES[pane]);
    for (const name of Object.keys(PANES))
        document.getElementById(name).textContent = name === pane ? text : "";
    PANES[pane] = setTimeout(() => { document.getElementById(pane).textContent = ""; }, 10_000);
}

export const say = (text) => show("news", text);
export const warn = (error) => show("alarm", error?.message ?? String(error));
// Of a new view: what went wrong before is no longer said, what went well still is.
export const hush = () => { document.getElementById("alarm").textContent = ""; };

// Runs fn while the button is out of use; what it throws is told.
export async function busy(button, fn) {
    if (button.getAttribute("aria-disabled") === "true")
        return;
    // Not `disabled`: that would take the focus away from who uses the keyboard.
    button.setAttribute("aria-disabled", "true");
    try {
        await fn();
    } catch (error) {
        warn(error);
    } finally {
        button.removeAttribute("aria-disabled");
    }
}

// A form that sends nothing by itself: fn runs instead. Fields are those of field().
export function form(fields, button, fn, attributes = {}, look = {}) {
    const submit = el("button", { type: "submit", ...look }, button);
    return el("form", { ...attributes, onsubmit: (event) => {
        event.preventDefault();
        busy(submit, fn);
    } }, fields.map((each) => each.node), submit);
}

export function button(label, fn, attributes = {}) {
    const node = el("button", { type: "button", ...attributes }, label);
    node.addEventListener("click", () => busy(node, fn));
    return node;
}

export function card(title, ...children) {
    const id = `card-${++unique}`;
    return el("section", { class: "card", "aria-labelledby": id }, el("h2", { id }, title), ...children);
}

export const note = (...children) => el("p", { class: "note" }, ...children);

// What stands in a place until the answer is there, as high as the answer will about be.
export const waiting = (text = "Loading…") => el("p", { class: "note waiting" }, text);

const DATE = { weekday: "short", day: "numeric", month: "short" };
export const dateText = (iso) => new Date(iso).toLocaleDateString(undefined, DATE);
export const timeText = (iso) => new Date(iso).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
