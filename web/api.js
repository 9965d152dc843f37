// api.js -- calls of the server's API, and its errors in words that say what to do.
//
// SPDX-License-Identifier: MIT

import { current, forget } from "./session.js";

const BASE = new URL("../", import.meta.url); // …/api/
const LONGEST_MS = 60_000;

export class ApiError extends Error {
    constructor(message, status = 0, body = {}) {
        super(message);
        this.status = status;
        this.body = body;
        this.error = body.error;
    }
}

const BY_ERROR = {
    PROFILE_INCOMPLETE: "Tell us your name first: fill in “Your name” and try again.",
    group_not_found: "This group does not exist any more. Go back to your groups.",
    not_allowed: "You are not a member of this group. Ask one of its members to invite you.",
    invalid_email: "This is not an e-mail address. Check it and try again.",
    name_required: "Please enter your name.",
    ignite_closed: "This table is closed. Ask the organiser to open it again and show a new code.",
    IGNITE_CLOSED: "This table is closed. Ask the organiser to open it again and show a new code.",
    ignite_photo_too_large: "The photo is larger than 3 MB. Choose a smaller one, or none.",
    invalid_photo: "This photo cannot be read. Choose another one, or none.",
    already_member: "This person is a member already.",
    expired_token: "This link has expired. Ask for a new one below.",
    invalid_token: "This link is not valid. Ask for a new one below.",
    state_changed: "Somebody else was faster. Please try again.",
    config_missing: "This server is not set up for that yet. Tell whoever runs it what is missing: ",
    CONFIG_MISSING: "This server is not set up for that yet. Tell whoever runs it what is missing: ",
};

function wordsFor(status, body, headers) {
    const known = BY_ERROR[body.error];
    if (known)
        return known + (body.missing ? `${body.missing.join(", ")}.` : "");
    if (status === 401)
        return "Your session has ended. Please sign in again.";
    if (status === 429) {
        const seconds = Number(headers.get("retry-after"));
        const wait = seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : "a minute";
        return `Too many tries. Wait ${wait} and try again.`;
    }
    if (status >= 500)
        return `The server could not do that. Try again in a moment.${body.traceId ? ` (Trace ${body.traceId})` : ""}`;
    return body.message || "The server did not accept that. Check what you entered and try again.";
}

async function send(path, { method, query, body, session }) {
    const url = new URL(path, BASE);
    for (const [name, value] of Object.entries(query ?? {}))
        url.searchParams.set(name, value);
    const headers = { Accept: "*/*" };
    if (session)
        headers["x-session-id"] = session.id;
    if (body !== undefined)
        headers["Content-Type"] = "application/json";
    try {
        return await fetch(url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body),
            credentials: "omit", signal: AbortSignal.timeout(LONGEST_MS) });
    } catch {
        throw new ApiError("The server cannot be reached. Check your connection and try again.");
    }
}

async function failure(answer, session) {
    const body = await answer.json().catch(() => ({}));
    if (answer.status === 401 && session && body.error === "unauthorized") {
        forget(session.id);
        window.dispatchEvent(new Event("session-ended"));
    }
    return new ApiError(wordsFor(answer.status, body, answer.headers), answer.status, body);
}

async function call(path, options) {
    const session = options.session === undefined ? current() : options.session;
    const answer = await send(path, { ...options, session });
    if (!answer.ok)
        throw await failure(answer, session);
    return answer;
}

export const get = async (path, query, session) => (await call(path, { method: "GET", query, session })).json();
export const post = async (path, body, session) => (await call(path, { method: "POST", body, session })).json();

export const put = async (path, body, session) => (await call(path, { method: "PUT", body, session })).json();

export const getBlob = async (path, query, session) => (await call(path, { method: "GET", query, session })).blob();

// A text and the headers it came with.
export async function getText(path, query, session) {
    const answer = await call(path, { method: "GET", query, session });
    return { text: await answer.text(), headers: answer.headers };
}

// Null where this server has no such call, or does not know that part of it.
export async function ifServed(promise) {
    try {
        return await promise;
    } catch (error) {
        if ([400, 404, 405, 501].includes(error.status) && error.error !== "group_not_found")
            return null;
        throw error;
    }
}
