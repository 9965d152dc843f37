// signin.js -- signing in: an address is given, and a link in the mail brings the session.
//
// SPDX-License-Identifier: MIT

import { ApiError, post } from "./api.js";
import { el, field, form, note, say, warn } from "./dom.js";
import { dropGuest, guest, keepFull } from "./session.js";

const attempt = () => crypto.randomUUID?.() ?? String(Math.random()).slice(2); // no secret: it only tells tries apart

function sent(email, again) {
    const heading = el("h1", { tabindex: "-1" }, "Look into your mail");
    queueMicrotask(() => heading.focus());
    return el("section", { class: "card narrow" }, heading,
        el("p", {}, "A link is on its way to ", el("strong", {}, email), ". It works for 15 minutes."),
        note("Nothing there? Look among the unwanted mail, or ask for another link."),
        el("button", { type: "button", class: "quiet", onclick: again }, "Use another address"));
}

// returnTo: where the link leads after it has signed in, "/g/…".
export function signIn({ returnTo = "/", title = "Sign in", lead = null } = {}) {
    const place = el("div", {});
    const start = () => {
        const email = field("E-mail address", { type: "email", name: "email", autocomplete: "email", required: true,
            maxlength: 254 });
        place.replaceChildren(el("section", { class: "card narrow" }, el("h1", {}, title),
            el("p", {}, lead ?? "Enter your e-mail address. You get a link that signs you in: there is no password."),
            form([email], "Send me a link", async () => {
                const address = email.input.value.trim();
                await post("auth/request-link", { email: address, returnTo, attemptId: attempt() }, null);
                place.replaceChildren(sent(address, start));
                say("The link is on its way.");
            })));
    };
    start();
    return place;
}

export function welcome() {
    return [el("section", { class: "hero" }, el("h1", {}, "Plan together, around one table"),
        el("p", {}, "Your groups at a glance, what is coming up, and a code on the table ",
            "that lets guests join for an evening.")), signIn()];
}

// A guest who signs in keeps the group that they came to.
async function claim() {
    const was = guest();
    if (was === null)
        return;
    try {
        await post("group/claim", { groupId: was.groupId, graceSessionId: was.id });
    } catch (error) {
        if (!(error instanceof ApiError))
            throw error; // the guest's evening is over: nothing to keep
    }
    dropGuest();
}

// The link of the mail. go(path) leads on.
export function consume(query, go) {
    const place = el("div", {}, el("section", { class: "card narrow" }, el("h1", {}, "Signing you in…"),
        note("This takes a moment.")));
    const run = async () => {
        try {
            keepFull(await post("auth/consume-link", { token: query.get("token") ?? "" }, null));
            await claim();
            const to = query.get("returnTo") ?? "/";
            go(to.startsWith("/") && !to.startsWith("//") ? to : "/");
            say("You are signed in.");
        } catch (error) {
            place.replaceChildren(signIn({ title: "That link did not work" }));
            warn(error);
        }
    };
    run();
    return place;
}
