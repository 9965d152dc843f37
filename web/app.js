// app.js -- which view belongs to the address, and who is signed in.
//
// Addresses are behind the #, so that a token in one is never sent to a server, nor to another page as its referrer.
//
// SPDX-License-Identifier: MIT

import { button, el, hush, say, warn } from "./dom.js";
import { group } from "./group.js";
import { home } from "./home.js";
import { table } from "./ignite.js";
import { joinGroup, joinTable } from "./join.js";
import { current, forGroup, signOut } from "./session.js";
import { consume, signIn, welcome } from "./signin.js";

const main = document.getElementById("main");
let turn = 0; // which navigation is the newest: a view that comes late is dropped

function go(path) {
    if (location.hash === `#${path}`)
        show();
    else
        location.hash = path;
}

function showWho() {
    const session = current();
    document.getElementById("who").replaceChildren(...(session ? [el("span", { class: "mail" }, session.email),
        button("Sign out", () => {
            signOut();
            go("/");
            say("You are signed out on this device.");
        }, { class: "quiet" })] : []));
}

// Takes the token out of the address before anything else: not in the history, and not sent twice.
function signInByLink(query) {
    history.replaceState(null, "", "#/");
    return { title: "Signing in", nodes: [consume(query, go)] };
}

function inGroup(view) {
    return (query, groupId) => {
        const session = forGroup(groupId);
        return session ? view(groupId, session)
            : { title: "Sign in", nodes: [signIn({ returnTo: location.hash.slice(1) })] };
    };
}

const ROUTES = [
    [/^\/auth\/consume$/, signInByLink],
    [/^\/join-table$/, (query) => joinTable(query, go)],
    [/^\/join$/, (query) => joinGroup(query, go)],
    [/^\/g\/([^/]+)\/ignite$/, inGroup(table)],
    [/^\/g\/([^/]+)(?:\/app)?$/, inGroup(group)],
    [/^\/?$/, () => current() ? home(current(), go) : { title: "Trestle", nodes: welcome() }],
];

function viewOf(address) {
    const [path, query = ""] = address.split(/\?(.*)/s);
    for (const [pattern, view] of ROUTES) {
        const found = pattern.exec(path);
        if (found)
            return view(new URLSearchParams(query), ...found.slice(1).map(decodeURIComponent));
    }
    return { title: "Not found", nodes: [el("section", { class: "card narrow" }, el("h1", {}, "There is no such page"),
        el("p", {}, el("a", { href: "#/" }, "Go to your groups")))] };
}

function failed(error) {
    return { title: "Trestle", nodes: [el("section", { class: "card narrow" }, el("h1", {}, "That did not work"),
        el("p", {}, error.message), el("p", { class: "buttons" }, button("Try again", show),
            el("a", { class: "button quiet", href: "#/" }, "Your groups")))] };
}

async function show() {
    const mine = ++turn;
    showWho();
    hush();
    main.setAttribute("aria-busy", "true");
    let view;
    try {
        view = await viewOf(location.hash.replace(/^#/, "") || "/");
    } catch (error) {
        view = failed(error);
    }
    if (mine !== turn)
        return;
    main.replaceChildren(...view.nodes.flat(Infinity).filter(Boolean));
    main.removeAttribute("aria-busy");
    document.title = view.title === "Trestle" ? "Trestle" : `${view.title} – Trestle`;
    showWho();
    if (mine > 1) // who uses a screen reader is told of the new page; at the start the browser does that
        main.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    view.ready?.catch((error) => mine === turn && warn(error));
}

window.addEventListener("hashchange", show);
window.addEventListener("session-ended", show);
show();
