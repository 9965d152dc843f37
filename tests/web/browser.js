// browser.js -- the page, as people use it: in a browser, against the built program with an empty embedded store.
//
// Ann signs in by keyboard alone, makes a group, renames it, invites Bob and opens the table; Bob accepts on a dark
// phone; Gus scans the code and joins as a guest. Nobody's browser may complain: no error of a script, nothing that the
// policy forbids, no call that fails, nothing asked of another server, nothing that moves while it is being read.
//
// Screenshots go to TRESTLE_SCREENSHOTS.
//
// SPDX-License-Identifier: MIT
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const { scratchFolder, start, support, tally } = require("../docs/trestle.js");
const { CHROMIUM, DESK, PAGE, PHONE, linkOf, mailTo, openBrowser, readCode, tabTo, visitor } = require("./visitor.js");

const SUITE = "browser", SKIPPED = 77;
const SHIFT_MAX = 0.1; // what the Web Vitals call good
const ANN = "ann@example.org", BOB = "bob@example.org", GUS = "gus@example.org";
const [playwright, jsQR] = support(SUITE, "playwright-core", "jsqr");

const shots = process.env.TRESTLE_SCREENSHOTS ?? path.join(os.tmpdir(), "trestle-screenshots");
const shoot = (who, name) => who.page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true });

const heading = (who, name) => who.page.getByRole("heading", { name, exact: true }).waitFor();
const press = (who, name) => who.page.getByRole("button", { name, exact: true }).click();
const news = (who, text) => who.page.locator(".news", { hasText: text }).waitFor();
// Nothing of the page is still on its way.
const settled = async (who) => {
    await who.page.locator(".waiting").first().waitFor({ state: "detached" });
    await who.page.waitForLoadState("networkidle");
};


// A call with the session that the page keeps.
function callAs(who, route, body) {
    return who.page.evaluate(async ([to, sent]) => {
        const { id } = JSON.parse(localStorage.getItem("trestle.session"));
        const answer = await fetch(`/api/${to}`, { method: "POST", body: JSON.stringify(sent),
            headers: { "Content-Type": "application/json", "x-session-id": id } });
        return answer.json();
    }, [route, body]);
}

// Of all appointments in a snapshot, the oldest first.
const codes = (answer) => answer.snapshot.appointments.map((item) => item.code)
    .sort((a, b) => Number(a.split("-")[1]) - Number(b.split("-")[1]));

async function run(check, server, browser, sink) {
    const ann = await visitor(browser, DESK);
    const bob = await visitor(browser, PHONE, { dark: true });
    const gus = await visitor(browser, PHONE);
    const everybody = { ann, bob, gus };
    let code, tableAddress;

    await check("a person signs in by keyboard alone", async () => {
        await ann.page.goto(PAGE);
        await heading(ann, "Sign in");
        await shoot(ann, "desk-sign-in");
        await tabTo(ann.page, "input[type=email]");
        const outline = await ann.page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
        assert.notEqual(outline, "none", "where the focus is cannot be seen");
        await ann.page.keyboard.type(ANN);
        await ann.page.keyboard.press("Enter");
        await heading(ann, "Look into your mail");
        await ann.page.goto(linkOf(await mailTo(sink, ANN)));
        await heading(ann, "Your groups");
        assert.doesNotMatch(ann.page.url(), /token/);
        assert.equal(await ann.page.locator(".mail").innerText(), ANN);
    });

    await check("a link that was tampered with signs nobody in, and says what to do", async () => {
        const eve = await visitor(browser, DESK, { expected: ["400 /api/auth/consume-link"] });
        await eve.page.goto(`${PAGE}/#/auth/consume?token=a.b&attemptId=1&returnTo=%2F`);
        await heading(eve, "That link did not work");
        await eve.page.locator(".alarm", { hasText: "Ask for a new one" }).waitFor();
        assert.deepEqual(await eve.all(), []);
        await eve.context.close();
    });

    await check("a group is created", async () => {
        await ann.page.getByLabel("Your name").fill("Ann");
        await ann.page.getByLabel("Name of the group").fill("Sunday lunch");
        await press(ann, "Create group");
        await heading(ann, "Sunday lunch");
        await settled(ann);
        assert.match(await ann.page.locator(".person").innerText(), /Ann/);
    });

    await check("a group is renamed", async () => {
        await press(ann, "Rename");
        await ann.page.getByLabel("New name").fill("  The <b>Sunday</b>   lunch ");
        await press(ann, "Save name");
        await heading(ann, "The <b>Sunday</b> lunch");
        await press(ann, "Rename");
        await ann.page.getByLabel("New name").fill("Sunday table");
        await press(ann, "Save name");
        await heading(ann, "Sunday table");
    });

    await check("somebody is invited by e-mail", async () => {
        await ann.page.getByLabel("Invite by e-mail").fill(BOB);
        await press(ann, "Invite");
        await news(ann, "has been invited");
        await ann.page.locator(".badge", { hasText: "invited" }).waitFor();
        assert.match(linkOf(await mailTo(sink, BOB)), /\/api\/app\/#\/join\?groupId=/);
        await shoot(ann, "desk-group");
    });

    await check("what is coming up is shown, what is over is not", async () => {
        const groupId = /[0-9a-f-]{36}/.exec(ann.page.url())[0];
        const act = (action) => callAs(ann, "direct", { groupId, action });
        const day = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
        for (const [title, date, startTime] of [["Lunch", day(2), "12:30"], ["Walk", day(1)], ["Breakfast", day(-3)]]) {
            const code = codes(await act({ type: "create_blank_appointment" })).at(-1);
            await act({ type: "set_appointment_desc", code, desc: title });
            await act({ type: "reschedule_appointment", code, date, timezone: "UTC",
                ...(startTime ? { startTime, durationMins: 90 } : {}) });
        }
        await ann.page.reload();
        await heading(ann, "Coming up");
        await settled(ann);
        const shown = await ann.page.locator(".when + .grow").allInnerTexts();
        assert.deepEqual(shown, ["Walk", "Lunch"]);
        assert.match(await ann.page.locator(".when").last().innerText(), /12:30/);
        await shoot(ann, "desk-appointments");
    });

    await check("who is invited comes by the mail's link, signs in and accepts", async () => {
        await bob.page.goto(linkOf(await mailTo(sink, BOB)));
        await heading(bob, "You are invited");
        await shoot(bob, "phone-dark-invited");
        await bob.page.getByLabel("E-mail address").fill(BOB);
        await press(bob, "Send me a link");
        await heading(bob, "Look into your mail");
        await bob.page.goto(linkOf(await mailTo(sink, BOB, 2)));
        await heading(bob, "You are invited");
        await bob.page.locator(".brand").click();
        await heading(bob, "Invitations");
        await settled(bob);
        await shoot(bob, "phone-dark-invitations");
        await press(bob, "Accept the invitation to Sunday table");
        await news(bob, "You have joined");
        await bob.page.getByRole("link", { name: "Sunday table" }).click();
        await heading(bob, "Members");
        await settled(bob);
        assert.equal(await bob.page.locator(".person").count(), 2);
        await shoot(bob, "phone-dark-group");
    });

    await check("the organiser's code leads to the table", async () => {
        await ann.page.getByRole("link", { name: "Open the table" }).click();
        await heading(ann, "The table is closed");
        await press(ann, "Open the table");
        await ann.page.locator(".code svg").waitFor();
        tableAddress = await ann.page.locator(".address").innerText();
        code = await readCode(jsQR, ann.page, ".code svg");
        assert.equal(code, tableAddress);
        assert.ok(code.startsWith(`${PAGE}/#/join-table?groupId=`), code);
    });

    await check("a guest joins by the code, with a photo", async () => {
        await gus.page.goto(code);
        await heading(gus, "Join the table");
        await gus.page.getByLabel("Your name").fill("Gus");
        await gus.page.getByLabel("E-mail address").fill(GUS);
        await gus.page.getByLabel("Photo (optional)").setInputFiles(path.join(shots, "desk-sign-in.png"));
        await gus.page.locator(".preview").waitFor();
        await shoot(gus, "phone-join");
        await press(gus, "Join");
        await heading(gus, "Sunday table");
        await settled(gus);
        assert.equal(await gus.page.getByRole("button", { name: "Rename" }).count(), 0);
        await shoot(gus, "phone-guest");
    });

    await check("the organiser sees who has come, and finds the table again after a reload", async () => {
        await ann.page.locator(".chips li", { hasText: "Gus" }).waitFor();
        await ann.page.waitForFunction(() => document.querySelector(".face")?.naturalWidth > 0);
        await shoot(ann, "desk-table");
        await ann.page.reload();
        await ann.page.locator(".code svg").waitFor();
        assert.equal(await ann.page.locator(".address").innerText(), tableAddress);
    });

    await check("nobody joins a table that is closed, and the page says why", async () => {
        await press(ann, "Close the table");
        await heading(ann, "The table is closed");
        const late = await visitor(browser, PHONE, { dark: true, expected: ["403 /api/ignite/join"] });
        await late.page.goto(code);
        await late.page.getByLabel("Your name").fill("Lea");
        await late.page.getByLabel("E-mail address").fill("lea@example.org");
        await press(late, "Join");
        await late.page.locator(".alarm", { hasText: "This table is closed" }).waitFor();
        await shoot(late, "phone-dark-closed");
        assert.deepEqual(await late.all(), []);
        await late.context.close();
    });

    await check("the first page shows groups and what was used", async () => {
        await ann.page.locator(".brand").click();
        await heading(ann, "Usage");
        await settled(ann);
        const month = await ann.page.locator(".chart").last().getAttribute("aria-label");
        assert.match(month, /New groups 1, .*Invites sent 1, Accepted 1/);
        await shoot(ann, "desk-home");
        await bob.page.goto(PAGE);
        await heading(bob, "Usage");
        await settled(bob);
        await shoot(bob, "phone-dark-home");
    });

    await check("who declines an invitation no longer sees it", async () => {
        const { groupId } = await callAs(ann, "group/create", { groupName: "Chess" });
        await callAs(ann, "group/invite-email", { groupId, recipientEmail: BOB });
        await bob.page.reload();
        await press(bob, "Decline the invitation to Chess");
        await news(bob, "You have declined");
        await bob.page.getByRole("heading", { name: "Invitations" }).waitFor({ state: "detached" });
        assert.equal(await bob.page.getByText("Chess", { exact: true }).count(), 0);
    });

    await check("a guest who signs in by the mail's link is a member from then on", async () => {
        await gus.page.goto(linkOf(await mailTo(sink, GUS)));
        await heading(gus, "Sunday table");
        await settled(gus);
        await gus.page.getByRole("button", { name: "Rename" }).waitFor();
        assert.equal(await gus.page.locator(".badge", { hasText: "guest" }).count(), 0);
        assert.equal(await gus.page.evaluate(() => localStorage.getItem("trestle.guest")), null);
    });

    await check("a phone's page is no wider than the phone, and its buttons are large enough for a thumb", async () => {
        const width = await bob.page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(width <= PHONE.viewport.width, `${width} pixels wide`);
        for (const button of await bob.page.locator("button:visible, .button:visible, a.row:visible").all())
            assert.ok((await button.boundingBox()).height >= 44, await button.innerText());
    });

    await check("dark is dark", async () => {
        const [ground, ink] = await bob.page.evaluate(() => {
            const style = getComputedStyle(document.body);
            return [style.backgroundColor, style.color].map((rgb) => /\d+/.exec(rgb)[0]);
        });
        assert.ok(ground < 40 && ink > 200, `ground ${ground}, ink ${ink}`);
    });

    await check("nothing moves while it is being read", async () => {
        for (const [name, who] of Object.entries(everybody)) {
            const shifted = await who.page.evaluate(() => window.shifted);
            assert.ok(shifted < SHIFT_MAX, `${name}: ${shifted}`);
        }
    });

    await check("who signs out is signed out", async () => {
        await press(ann, "Sign out");
        await heading(ann, "Sign in");
        await ann.page.reload();
        await heading(ann, "Sign in");
        assert.equal(await ann.page.evaluate(() => Object.keys(localStorage).length), 0);
    });

    await check("no browser complained", async () => {
        for (const [name, who] of Object.entries(everybody))
            assert.deepEqual(await who.all(), [], name);
    });
}

async function main() {
    if (!CHROMIUM) {
        console.error(`${SUITE}: there is no chromium`);
        console.log(`${SUITE}: 0 passed, 0 failed, 1 skipped`);
        return SKIPPED;
    }
    const { check, end } = tally(SUITE);
    const sink = scratchFolder();
    fs.mkdirSync(shots, { recursive: true });
    const server = await start({ EMAIL_SINK_DIR: sink, MAGIC_LINK_SECRET: "a secret of this test alone",
        STATE_CONTAINER: "scheduler-state", TZ: "UTC", WEB_BASE_URL: PAGE });
    const browser = await openBrowser(playwright, server.port);
    try {
        await run(check, server, browser, sink);
    } finally {
        await browser.close();
        await check("the program ends as it should", async () => assert.equal(await server.stop(), ""));
    }
    return end();
}

main().then((code) => { process.exitCode = code; }, (error) => {
    console.error(error);
    process.exitCode = 1;
});
