// visitor.js -- somebody with a browser of their own, and what went wrong in it.
//
// The page lives at http://plan.test, which the browser takes for the server's port: so the links of mails are known
// before the server is, and it is as on a phone that comes over plain HTTP (no secure context).
//
// SPDX-License-Identifier: MIT
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const ORIGIN = "http://plan.test";
const PAGE = `${ORIGIN}/api/app`;
const WAIT_MS = 30_000, LOOK_MS = 50;

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(fs.existsSync);

const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
const DESK = { viewport: { width: 1180, height: 860 } };

function openBrowser(playwright, port) {
    return playwright.chromium.launch({
        executablePath: CHROMIUM,
        args: [`--host-resolver-rules=MAP plan.test:80 127.0.0.1:${port}, MAP * ~NOTFOUND`, "--no-sandbox",
            "--disable-dev-shm-usage"],
    });
}

// Runs in the page, before its own scripts.
function watch() {
    window.complaints = [];
    window.shifted = 0;
    addEventListener("securitypolicyviolation", (event) =>
        window.complaints.push(`policy: ${event.violatedDirective} ${event.blockedURI}`));
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
        window.shifted += entry.hadRecentInput ? 0 : entry.value;
    })).observe({ type: "layout-shift", buffered: true });
}

// { page, context, all() } of a new person; all() gives the complaints. `expected`: answers that are none.
async function visitor(browser, look, { dark = false, expected = [] } = {}) {
    const context = await browser.newContext({ ...look, colorScheme: dark ? "dark" : "light", locale: "en-GB" });
    const complaints = [];
    await context.addInitScript(watch);
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    page.on("pageerror", (error) => complaints.push(`script: ${error.message}`));
    page.on("console", (line) => {
        if (["error", "warning"].includes(line.type()) && !line.text().startsWith("Failed to load resource"))
            complaints.push(`console: ${line.text()}`);
    });
    page.on("response", (answer) => {
        const what = `${answer.status()} ${new URL(answer.url()).pathname}`;
        if (answer.status() >= 400 && !expected.includes(what))
            complaints.push(`answer: ${what}`);
    });
    page.on("request", (request) => {
        if (!/^(http:\/\/plan\.test\/|data:|blob:)/.test(request.url()))
            complaints.push(`elsewhere: ${request.url()}`);
    });
    return { page, context, all: async () => [...complaints, ...await page.evaluate(() => window.complaints)] };
}

// The newest mail to an address in the folder of EMAIL_SINK_DIR, when there are at least `count`.
async function mailTo(folder, address, count = 1) {
    const end = Date.now() + WAIT_MS;
    for (;;) {
        const names = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => /^[^.].*\.json$/.test(name)) : [];
        const mails = names.sort().map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), "utf8")))
            .filter((mail) => mail.to === address);
        if (mails.length >= count)
            return mails.at(-1);
        if (Date.now() > end)
            throw new Error(`no mail number ${count} to ${address}`);
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
}

const linkOf = (mail) => /http\S+/.exec(mail.text)[0];

// The text of the QR code that is drawn as the SVG of that selector.
async function readCode(jsQR, page, selector) {
    const { data, side } = await page.evaluate(async (wanted) => {
        const text = new XMLSerializer().serializeToString(document.querySelector(wanted));
        const image = new Image();
        image.width = image.height = 600;
        image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
        await image.decode();
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = 600;
        const on = canvas.getContext("2d");
        on.drawImage(image, 0, 0, 600, 600);
        return { data: [...on.getImageData(0, 0, 600, 600).data], side: 600 };
    }, selector);
    return jsQR(Uint8ClampedArray.from(data), side, side)?.data;
}

// Presses Tab until the focus is on what fits the selector, as somebody without a mouse would.
async function tabTo(page, selector, most = 20) {
    for (let i = 0; i < most; i++) {
        await page.keyboard.press("Tab");
        if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector))
            return;
    }
    throw new Error(`no way to ${selector} by the keyboard`);
}

module.exports = { CHROMIUM, DESK, PAGE, PHONE, linkOf, mailTo, openBrowser, readCode, tabTo, visitor };
