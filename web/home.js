// home.js -- what a person sees first: invitations, their groups, and what has been used.
//
// SPDX-License-Identifier: MIT

import { get, ifServed, post } from "./api.js";
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
        el("strong", {}, group.groupName), group.memberCountActive > 0 && el("span", { class: "note" }, counts(group))));
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
        invited.length > 0 && card("Invitations", el("ul", { class: "list" }, invited.map((g) => inviteRow(g, reload)))),
        card("Your groups", active.length > 0
            ? el("ul", { class: "list" }, active.map(groupRow))
            : note("You are in no group yet. Create one, or ask somebody to invite you.")),
    ];
}

function createCard(named, go) {
    const name = field("Name of the group", { name: "groupName", required: true, maxlength: 60, autocomplete: "off" });
    const me = field("Your name", { name: "creatorName", required: true, maxlength: 40, autocomplete: "name" },
        "Members of your groups see it.");
    return card("New group", form(named ? [name] : [me, name], "Create group", async () => {
        const body = { groupName: name.input.value, ...(named ? {} : { creatorName: me.input.value }) };
        const made = await post("group/create", body);
        go(`/g/${made.groupId}`);
        say(`${made.groupName} is there. Now invite somebody.`);
    }));
}

const STATES = { ok: "within today's limits", warning: "close to today's limits", limit_reached: "limit reached for today" };

function usageCard(board, usage) {
    const today = board.usageToday, month = board.monthSummary;
    const state = STATES[usage?.usageState];
    return card("Usage",
        el("h3", {}, "Assistant today"),
        today ? chart("Assistant today", [["Calls", today.openaiCalls], ["Tokens in", today.tokensIn],
            ["Tokens out", today.tokensOut], ["Errors", today.errors]]) : note("Cannot be read at the moment."),
        state && note(`All together: ${usage.usageSummary}, ${state}.`),
        el("h3", {}, "This month"),
        month ? chart("This month", [["New groups", month.newGroups], ["Appointments", month.newAppointments],
            ["Invites sent", month.invitesSent], ["Accepted", month.invitesAccepted]]) : note("Cannot be read at the moment."));
}

// The name is asked for where it is missing. A server without profiles says so when a group is created.
const hasName = (profile) => Boolean(profile?.displayName);

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
        const [board, used, profile] = await Promise.all([load(), ifServed(get("usage")), ifServed(get("user/profile"))]);
        usage.replaceChildren(usageCard(board, used));
        if (!guest)
            create.replaceChildren(createCard(hasName(profile), go));
    };
    return { title: "Your groups", ready: run(), nodes: [el("h1", {}, guest ? "Welcome, guest" : "Hello"),
        el("div", { class: "columns" }, el("div", { class: "stack" }, groups, create), usage)] };
}
