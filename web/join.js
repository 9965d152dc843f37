// join.js -- the guest's side of the table, and invitations that came by mail.
//
// SPDX-License-Identifier: MIT

import { ApiError, post } from "./api.js";
import { button, el, field, form, say } from "./dom.js";
import { current, keepGuest } from "./session.js";
import { signIn } from "./signin.js";

const PHOTO_SIDE = 1024; // pixels; what a phone takes is far beyond the server's limit

// The photo as a JPEG of at most PHOTO_SIDE, as a data URL.
async function shrink(file) {
    const picture = await createImageBitmap(file).catch(() => {
        throw new ApiError("This photo cannot be read. Choose another one, or none.");
    });
    const scale = Math.min(1, PHOTO_SIDE / Math.max(picture.width, picture.height));
    const canvas = el("canvas", { width: Math.round(picture.width * scale),
        height: Math.round(picture.height * scale) });
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    picture.close();
    return canvas.toDataURL("image/jpeg", 0.85);
}

function photoField() {
    const photo = field("Photo (optional)", { type: "file", accept: "image/*" }, "So that the others see who came.");
    const preview = el("img", { class: "preview", alt: "Your photo", hidden: true });
    photo.input.addEventListener("change", () => {
        const file = photo.input.files[0];
        URL.revokeObjectURL(preview.src);
        preview.hidden = !file;
        if (file)
            preview.src = URL.createObjectURL(file);
    });
    photo.node.append(preview);
    return photo;
}

const REASONS = {
    INVITE_REQUIRES_AUTH: "This table is for members: sign in first. The link in your mail brings you back here.",
    EMAIL_REQUIRES_AUTH: "This address belongs to a member: sign in first. The link in your mail brings you back here.",
};

// The table of a QR code: #/join-table?groupId=…&sessionId=…
export function joinTable(query, go) {
    const groupId = query.get("groupId") ?? "", sessionId = query.get("sessionId") ?? "";
    const session = current()?.kind === "full" ? current() : null;
    const name = field("Your name", { name: "name", required: true, maxlength: 40, autocomplete: "name" });
    const email = field("E-mail address", { type: "email", name: "email", required: true, maxlength: 254,
        autocomplete: "email" }, "You get a link that keeps the group for you after this evening.");
    const photo = photoField();
    const place = el("div", {});
    const join = async () => {
        const file = photo.input.files[0];
        const person = session ? {} : { name: name.input.value, email: email.input.value };
        const answer = await post("ignite/join", { groupId, sessionId, ...person,
            ...(file ? { photoBase64: await shrink(file) } : {}) }, session);
        if (answer.requiresAuth) {
            place.replaceChildren(signIn({ returnTo: `/join-table?groupId=${groupId}&sessionId=${sessionId}`,
                lead: REASONS[answer.reason] }));
            return;
        }
        if (answer.sessionId)
            keepGuest(answer, person.email, groupId);
        go(`/g/${groupId}`);
        say("Welcome! You are at the table.");
    };
    place.append(el("section", { class: "card narrow" }, el("h1", {}, "Join the table"),
        el("p", {}, session ? `You join as ${session.email}.` : "Tell the others who you are."),
        form(session ? [photo] : [name, email, photo], "Join", join)));
    return { title: "Join the table", nodes: [place] };
}

// The link of an invitation: #/join?groupId=…
export function joinGroup(query, go) {
    const groupId = query.get("groupId") ?? "";
    if (current()?.kind !== "full")
        return { title: "You are invited", nodes: [signIn({ title: "You are invited",
            returnTo: `/join?groupId=${groupId}`,
            lead: "Sign in with the address that was invited. The link in your mail brings you back here." })] };
    const decide = (path, words, to) => async () => {
        await post(path, { groupId });
        go(to);
        say(words);
    };
    return { title: "You are invited", nodes: [el("section", { class: "card narrow" }, el("h1", {}, "You are invited"),
        el("p", {}, "Do you want to join this group?"), el("p", { class: "buttons" },
            button("Accept", decide("group/join", "You have joined.", `/g/${groupId}`)),
            button("Decline", decide("group/decline", "You have declined.", "/"), { class: "quiet" })))] };
}
