// ignite.js -- the organiser's side of the table: a code to scan, and who has come.
//
// SPDX-License-Identifier: MIT

import { get, getBlob, getText, ifServed, post } from "./api.js";
import { button, card, el, note, say, waiting } from "./dom.js";

const LOOK_MS = 4000;

// Which session this tab has opened, for the page to be loaded anew.
const remembered = {
    get: (groupId) => { try { return sessionStorage.getItem(`trestle.table.${groupId}`); } catch { return null; } },
    set: (groupId, id) => { try { sessionStorage.setItem(`trestle.table.${groupId}`, id); } catch { /* as it is */ } },
    drop: (groupId) => { try { sessionStorage.removeItem(`trestle.table.${groupId}`); } catch { /* as it is */ } },
};

async function code(groupId, sessionId) {
    const { text, headers } = await getText("ignite/qr", { groupId, sessionId });
    const svg = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", "Code to scan with a phone");
    return { svg, url: headers.get("x-join-url") };
}

// Browsers have no clipboard for pages that come over plain HTTP.
function copyButton(url) {
    return navigator.clipboard && button("Copy the link", async () => {
        await navigator.clipboard.writeText(url);
        say("The link has been copied.");
    }, { class: "quiet" });
}

// The photo of a guest. An address cannot say who asks for it, so it is fetched like everything else.
function face(groupId, sessionId, personId) {
    const image = el("img", { class: "face", alt: "" });
    image.addEventListener("load", () => URL.revokeObjectURL(image.src));
    getBlob("ignite/photo", { groupId, sessionId, personId })
        .then((photo) => { image.src = URL.createObjectURL(photo); }, () => image.remove());
    return image;
}

function chip(meta, groupId, sessionId) {
    return ([personId, { name }]) => el("li", {},
        meta.photoUpdatedAtByPersonId?.[personId] && face(groupId, sessionId, personId), name);
}

// Looks again and again while `place` is on the page.
function follow(place, groupId, sessionId, closed) {
    let known = -1;
    const look = async () => {
        if (!place.isConnected)
            return;
        const meta = await ifServed(get("ignite/meta", { groupId, sessionId })).catch(() => undefined);
        if (meta === null || (meta && meta.status !== "OPEN"))
            return closed();
        if (meta && meta.joinedCount !== known) {
            known = meta.joinedCount;
            place.replaceChildren(el("p", { class: "big" }, String(known)),
                note(known === 1 ? "at the table: you" : "at the table"),
                el("ul", { class: "chips" },
                    Object.entries(meta.peopleByPersonId ?? {}).map(chip(meta, groupId, sessionId))));
        }
        setTimeout(look, LOOK_MS);
    };
    queueMicrotask(look);
}

export async function table(groupId) {
    const { groupName } = await get("group/meta", { groupId });
    const place = el("div", { class: "stack" });
    const offer = () => {
        remembered.drop(groupId);
        place.replaceChildren(card("The table is closed",
            el("p", {}, "Open it, and a code appears. Whoever scans it can join until you close the table."),
            button("Open the table", async () => {
                const { sessionId } = await post("ignite/start", { groupId });
                remembered.set(groupId, sessionId);
                await open(sessionId);
                say("The table is open. Guests can scan the code.");
            })));
    };
    const open = async (sessionId) => {
        const { svg, url } = await code(groupId, sessionId);
        const who = el("div", { class: "present", "aria-live": "polite" }, waiting());
        place.replaceChildren(el("div", { class: "columns" }, card("Scan to join", el("div", { class: "code" }, svg),
            el("p", {}, el("a", { href: url, class: "address" }, url)),
            el("p", { class: "buttons" }, copyButton(url), button("Close the table", async () => {
                await post("ignite/close", { groupId, sessionId });
                offer();
                say("The table is closed.");
            }, { class: "danger" }))), card("Who is here", who)));
        follow(who, groupId, sessionId, offer);
    };
    const sessionId = remembered.get(groupId);
    const ready = (async () => {
        const meta = sessionId && await ifServed(get("ignite/meta", { groupId, sessionId }));
        return meta?.status === "OPEN" ? open(sessionId) : offer();
    })();
    const back = el("a", { class: "back", href: `#/g/${groupId}` }, `← ${groupName}`);
    return { title: `Table of ${groupName}`, ready, nodes: [back, el("h1", {}, "At the table"), place] };
}
