// group.js -- one group: its name, its members, what is coming up.
//
// SPDX-License-Identifier: MIT

import { get, ifServed, post } from "./api.js";
import { button, card, dateText, el, field, form, note, say, timeText, waiting } from "./dom.js";

const DAY_MS = 24 * 3600 * 1000, SHOWN_MAX = 20;

// ---- members ----

function memberRow(member) {
    const name = member.displayName || member.email;
    const badges = [member.status === "invited" && "invited", member.memberKind === "guest" && "guest"].filter(Boolean);
    const letter = el("span", { class: "dot", "aria-hidden": "true" }, [...name][0].toUpperCase());
    return el("li", { class: "row" }, el("span", { class: "person" }, letter,
        el("span", {}, el("strong", {}, name), name !== member.email && el("small", {}, member.email))),
    el("span", {}, badges.map((badge) => el("span", { class: "badge" }, badge))));
}

function inviteForm(groupId, reload) {
    const email = field("Invite by e-mail", { type: "email", required: true, maxlength: 254, autocomplete: "off" });
    return form([email], "Invite", async () => {
        const answer = await post("group/invite-email", { groupId, recipientEmail: email.input.value });
        say(answer.reason === "already_member" ? "This person is a member already."
            : answer.emailSent ? `${email.input.value} has been invited by e-mail.`
                : `${email.input.value} is invited, but no mail could be sent: tell them to sign in here.`);
        email.input.value = "";
        await reload();
    }, { class: "inline" });
}

function membersCard(groupId, guest) {
    const list = el("div", {}, waiting());
    const load = async () => {
        const { members } = await get("group/members", { groupId });
        list.replaceChildren(el("ul", { class: "list" }, members.map(memberRow)));
    };
    return { node: card("Members", list, !guest && inviteForm(groupId, load)), ready: load() };
}

// ---- appointments ----

// When it begins and ends, in milliseconds; null while nobody knows.
function spanOf(item) {
    const resolved = item.time?.resolved;
    if (resolved)
        return { from: Date.parse(resolved.startUtc), to: Date.parse(resolved.endUtc) };
    if (!item.date)
        return null;
    const from = Date.parse(`${item.date}T${item.startTime || "00:00"}`);
    return { from, to: from + (item.startTime ? (item.durationMins || 60) * 60_000 : DAY_MS) };
}

function upcoming(items) {
    return items.map((item) => ({ item, span: spanOf(item) }))
        .filter(({ span }) => span !== null && span.to > Date.now())
        .sort((a, b) => a.span.from - b.span.from).slice(0, SHOWN_MAX);
}

function appointmentRow({ item, span }) {
    const where = item.locationDisplay || item.location;
    const who = (item.peopleDisplay ?? []).join(", ");
    const day = item.isAllDay && item.date ? `${item.date}T00:00` : span.from;
    return el("li", { class: "row" }, el("span", { class: "when" }, el("strong", {}, dateText(day)),
        el("small", {}, item.isAllDay ? "all day" : timeText(span.from))),
    el("span", { class: "grow" }, el("strong", {}, item.title || item.desc || "Appointment"),
        (where || who) && el("small", {}, [where, who].filter(Boolean).join(" · "))));
}

// A server without appointments shows no card.
function appointmentsCard(groupId) {
    const place = el("div", { class: "stack" });
    const load = async () => {
        const answer = await ifServed(post("direct", { groupId, action: { type: "list_appointments" } }));
        const items = answer?.snapshot?.appointments;
        if (!items)
            return;
        const coming = upcoming(items);
        place.replaceChildren(card("Coming up", coming.length > 0
            ? el("ul", { class: "list" }, coming.map(appointmentRow)) : note("Nothing is planned.")));
    };
    return { node: place, ready: load() };
}

// ---- the name ----

function heading(meta, guest) {
    const title = el("h1", {}, meta.groupName);
    const name = field("New name", { required: true, maxlength: 60, value: meta.groupName, autocomplete: "off" });
    const change = button("Rename", async () => {
        details.hidden = !details.hidden;
        change.setAttribute("aria-expanded", String(!details.hidden));
        if (!details.hidden)
            name.input.select();
    }, { class: "quiet", "aria-expanded": "false" });
    const details = form([name], "Save name", async () => {
        const { groupName } = await post("group/rename", { groupId: meta.groupId, groupName: name.input.value });
        title.textContent = groupName;
        document.title = `${groupName} – Trestle`;
        details.hidden = true;
        change.setAttribute("aria-expanded", "false");
        change.focus();
        say(`The group is called ${groupName} now.`);
    }, { class: "inline card" });
    details.hidden = true;
    return [el("div", { class: "heading" }, title, !guest && change), details];
}

function tableCard(groupId) {
    return card("At the table", el("p", {}, "Show a code that lets guests join with their phones."),
        el("a", { class: "button", href: `#/g/${groupId}/ignite` }, "Open the table"));
}

export async function group(groupId, session) {
    const guest = session.kind === "guest";
    const meta = await get("group/meta", { groupId });
    const members = membersCard(groupId, guest), appointments = appointmentsCard(groupId);
    return {
        title: meta.groupName,
        ready: Promise.all([members.ready, appointments.ready]),
        nodes: [el("a", { class: "back", href: "#/" }, "← Your groups"), heading(meta, guest),
            guest && note(`You are a guest until ${timeText(session.expiresAt)}. `,
                "The link in your mail keeps the group for you."),
            el("div", { class: "columns" }, el("div", { class: "stack" }, appointments.node, members.node),
                !guest && el("div", { class: "stack" }, tableCard(groupId)))],
    };
}
