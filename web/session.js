// session.js -- who is signed in on this device.
//
// A person who came by a link from their mail has a full session; a guest at a table has one for that group and a short
// while. The guest's never takes the other's place. Both are kept for the next visit, until they end or are signed out.
//
// SPDX-License-Identifier: MIT

const KEYS = { full: "trestle.session", guest: "trestle.guest" };
const memory = new Map(); // for browsers that let nothing be kept

function read(kind) {
    let text = memory.get(kind);
    try {
        text = localStorage.getItem(KEYS[kind]) ?? text;
    } catch { /* not allowed: what is in memory counts */ }
    try {
        const value = JSON.parse(text ?? "null");
        return value && Date.parse(value.expiresAt) > Date.now() ? { ...value, kind } : null;
    } catch {
        return null;
    }
}

function write(kind, value) {
    const text = JSON.stringify(value);
    memory.set(kind, text);
    try {
        localStorage.setItem(KEYS[kind], text);
    } catch { /* it lasts as long as the page */ }
}

function drop(kind) {
    memory.delete(kind);
    try {
        localStorage.removeItem(KEYS[kind]);
    } catch { /* nothing was kept */ }
}

// { id, email, expiresAt, kind: "full" | "guest", groupId of a guest's }, or null.
export const current = () => read("full") ?? read("guest");
export const guest = () => read("guest");
// The one for a group: a guest's counts where there is no other.
export const forGroup = (groupId) => read("full") ?? (read("guest")?.groupId === groupId ? read("guest") : null);

export const keepFull = ({ sessionId, email, expiresAt }) => write("full", { id: sessionId, email, expiresAt });
export const keepGuest = ({ sessionId, graceExpiresAtUtc }, email, groupId) =>
    write("guest", { id: sessionId, email, groupId, expiresAt: graceExpiresAtUtc });
export const dropGuest = () => drop("guest");

export function signOut() {
    drop("full");
    drop("guest");
}

// The server no longer knows this one.
export function forget(id) {
    for (const kind of Object.keys(KEYS))
        if (read(kind)?.id === id)
            drop(kind);
}
