// home.js -- what a person sees first: invitations, their groups, and what has been used.
//
// SPDX-License-Identifier: MIT

import { get, ifServed, post, put } from "./api.js";
import { chart } from "./chart.js";
import { button, card, el, field, form, note, say, waiting } from "./dom.js";

const people = (n) => `${n} member${n === 1 ? "" : "s"}`;

function counts(group) {
    const invited = group.memberCountInvited > 0 ? `, ${group.memberCountInvited} invited` : "";
    const coming = group.appointmentCountUpcoming > 0 ? ` · ${group.appointmentCountUpcoming} coming up` : "";
    return `${people(group.memberCountActive)}${invited}${coming}`;
}

function groupRow(group) {
    return el("li", {}, el("a", { class: "row", href: `#/g/${group.groupId}` },
        el("strong", {}, group.groupName),
        group.memberCountActive > 0 && el("span", { class: "note" }, counts(group))));
}

function inviteRow(group, reload) {
    const decide = (path, words) => async () => {
        await post(path, { groupId: group.groupId });
        say(words);
        await reload();
    };
    return el("li", { class: "row" }, el("strong", {}, group.groupName), el("span", { class: "buttons" },
        button("Accept", decide("group/join", `You have joined ${group.groupName}.`),
            { "aria-label": `Accept the invitation to ${group.groupName}` }),
        button("Decline", decide("group/decline", `You have declined ${group.groupName}.`),
            { class: "quiet", "aria-label": `Decline the invitation to ${group.groupName}` })));
}

function groupsCard(groups, reload) {
    const invited = groups.filter((group) => group.myStatus === "invited");
    const active = groups.filter((group) => group.myStatus === "active");
    return [
        invited.length > 0 && card("Invitations",
            el("ul", { class: "list" }, invited.map((group) => inviteRow(group, reload)))),
        card("Your groups", active.length > 0
            ? el("ul", { class: "list" }, active.map(groupRow))
            : note("You are in no group yet. Create one, or ask somebody to invite you.")),
    ];
}

// The name that members of one's groups see. Whoever has none yet gives it with their first group.
function nameField(profile) {
    return field("Your name", { name: "displayName", required: true, maxlength: 40, autocomplete: "name",
        value: profile?.displayName || null }, "Members of your groups see it.");
}

function youCard(me) {
    return card("You", form([me], "Save name", async () => {
        const { displayName } = await put("user/profile", { displayName: me.input.value });
        me.input.value = displayName;
        say(`You are called ${displayName} now.`);
    }, {}, { class: "quiet" }));
}

function createCard(me, go) {
    const name = field("Name of the group", { name: "groupName", required: true, maxlength: 60, autocomplete: "off" });
    return card("New group", form([name], "Create group", async () => {
        if (!me.input.reportValidity())
            return;
        const made = await post("group/create", { groupName: name.input.value, creatorName: me.input.value });
        go(`/g/${made.groupId}`);
        say(`${made.groupName} is there. Now invite somebody.`);
    }));
}

const STATES = {
    ok: "within today's limits",
    warning: "close to today's limits",
    limit_reached: "limit reached for today",
};

function usageCard(board, usage) {
    const today = board.usageToday, month = board.monthSummary;
    const state = STATES[usage?.usageState];
    return card("Usage",
        el("h3", {}, "Assistant today"),
        today ? chart("Assistant today", [["Calls", today.openaiCalls], ["Tokens in", today.tokensIn],
            ["Tokens out", today.tokensOut], ["Errors", today.errors]]) : note("Nothing yet."),
        state && note(`All together: ${usage.usageSummary}, ${state}.`),
        el("h3", {}, "This month"),
        month ? chart("This month", [["New groups", month.newGroups], ["Appointments", month.newAppointments],
            ["Invites sent", month.invitesSent], ["Accepted", month.invitesAccepted]]) : note("Nothing yet."));
}

export function home(session, go) {
    const guest = session.kind === "guest";
    const groups = el("div", { class: "stack" }, card("Your groups", waiting()));
    const create = el("div", { class: "stack" });
    const usage = el("div", { class: "stack" }, card("Usage", waiting(), waiting(" ")));
    const load = async () => {
        const board = await get("me/dashboard");
        groups.replaceChildren(...groupsCard(board.groups, load).filter(Boolean));
        return board;
    };
    const run = async () => {
        const [board, used, profile] = await Promise.all([load(), ifServed(get("usage")),
            ifServed(get("user/profile"))]);
        usage.replaceChildren(usageCard(board, used));
        if (guest)
            return;
        const me = nameField(profile);
        create.replaceChildren(youCard(me), createCard(me, go));
    };
    return { title: "Your groups", ready: run(), nodes: [el("h1", {}, guest ? "Welcome, guest" : "Hello"),
        el("div", { class: "columns" }, el("div", { class: "stack" }, groups, create), usage)] };
}
