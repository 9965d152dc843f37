// docs.js -- the lines of the documentation do what the documentation says.
//
// Every ```sh block of docs/actions.md and docs/scheduler.md, and each of README.md that calls the server and does not
// start it, is run by bash (-euo pipefail), one after another, in an empty folder, against a fresh server: http://127.0.0.1:7071 is replaced
// by where that listens, bin/trestle is the program. A block must exit with 0.
//
// The block of ```json or ```text that follows, with nothing but prose between, is what it must write. In it, "…" stands
// for what differs from run to run:
//     "…"          any value                 "20…Z"              a text that begins and ends so
//     ["a", "…"]   and any further items     {"a": 1, "…": "…"}  and any further members
// In ```text it stands for any characters of a line, and alone on a line for any lines or none. JSON is compared as
// values.
//
// GitHub is a stand-in, which knows the README of actions/checkout; mails are files in the folder mails.
//
// SPDX-License-Identifier: MIT
"use strict";

const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const { ROOT, program, scratchFolder, start, standInForGitHub, tally } = require("./trestle.js");

const WRITTEN_AS = "http://127.0.0.1:7071";
const MAGIC_LINK_SECRET = "0123456789abcdef0123456789abcdef";
const SHELL_MS = 60_000;

// ---- what the document says ----

// [{ line, language, text }] of all fenced blocks.
function blocksOf(markdown) {
    const blocks = [];
    let open;
    for (const [i, line] of markdown.split("\n").entries()) {
        const fence = /^```(\w*)$/.exec(line);
        if (!fence)
            open?.lines.push(line);
        else if (open) {
            blocks.push({ ...open, text: `${open.lines.join("\n")}\n` });
            open = undefined;
        } else
            open = { line: i + 1, language: fence[1], lines: [] };
    }
    assert.equal(open, undefined, "a block without an end");
    return blocks;
}

// The sh blocks, each with the block that says what it writes.
function stepsOf(file, wanted) {
    const blocks = blocksOf(fs.readFileSync(path.join(ROOT, file), "utf8"));
    return blocks.map((block, i) => ({ name: `${file}:${block.line}`, block, next: blocks[i + 1] }))
        .filter(({ block }) => block.language === "sh" && wanted(block.text))
        .map(({ name, block, next }) => ({
            name, text: block.text, expected: ["json", "text"].includes(next?.language) ? next : undefined }));
}

// ---- comparing ----

const quoted = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const likeness = (text) => new RegExp(`^${text.split("…").map(quoted).join(".*")}$`, "s");

function assertLike(want, got, where) {
    if (want === "…")
        return;
    if (Array.isArray(want)) {
        const open = want.at(-1) === "…", items = open ? want.slice(0, -1) : want;
        assert.ok(Array.isArray(got), `${where} is no array: ${JSON.stringify(got)}`);
        assert.ok(open ? got.length >= items.length : got.length === items.length, `${where} has ${got.length} items`);
        items.forEach((item, i) => assertLike(item, got[i], `${where}[${i}]`));
    } else if (want !== null && typeof want === "object") {
        const { "…": rest, ...members } = want;
        assert.ok(got !== null && typeof got === "object", `${where} is no object: ${JSON.stringify(got)}`);
        for (const name of Object.keys(members))
            assertLike(members[name], got[name], `${where}.${name}`);
        if (rest === undefined)
            assert.deepEqual(Object.keys(got).sort(), Object.keys(members).sort(), `members of ${where}`);
    } else if (typeof want === "string" && want.includes("…"))
        assert.match(String(got), likeness(want), where);
    else
        assert.deepEqual(got, want, where);
}

function assertWritten(expected, written) {
    if (expected.language === "json") {
        let got;
        try {
            got = JSON.parse(written);
        } catch {
            assert.fail(`it wrote no JSON: ${written.slice(0, 500)}`);
        }
        assertLike(JSON.parse(expected.text), got, "answer");
        return;
    }
    const line = (text) => text === "…" ? "(.*\n)*" : `${text.split("…").map(quoted).join(".*")}\n`;
    const want = new RegExp(`^${expected.text.trimEnd().split("\n").map(line).join("")}$`);
    assert.match(`${written.replaceAll("\r", "").trimEnd()}\n`, want);
}

// ---- running ----

function runShell(script, folder, port) {
    return new Promise((resolve, reject) => {
        const text = script.replaceAll(WRITTEN_AS, `http://127.0.0.1:${port}`);
        const env = { PATH: process.env.PATH, HOME: folder, LC_ALL: "C.UTF-8", ASAN_OPTIONS: process.env.ASAN_OPTIONS };
        const child = spawn("bash", ["-euo", "pipefail", "-c", text], { cwd: folder, env, timeout: SHELL_MS,
            stdio: ["ignore", "pipe", "pipe"] });
        let out = "", err = "";
        child.stdout.on("data", (piece) => { out += piece; });
        child.stderr.on("data", (piece) => { err += piece; });
        child.on("error", reject);
        child.on("close", (code, signal) =>
            code === 0 ? resolve(out) : reject(new Error(`it ended with ${code ?? signal}: ${out}${err}`)));
    });
}

// An empty folder with the program, and with what the document takes from the source folder.
function workFolder() {
    const folder = scratchFolder();
    fs.mkdirSync(path.join(folder, "bin"));
    fs.symlinkSync(path.resolve(program()), path.join(folder, "bin/trestle"));
    fs.cpSync(path.join(ROOT, "samples"), path.join(folder, "samples"), { recursive: true });
    return folder;
}

async function runDocument(t, file, wanted) {
    const steps = stepsOf(file, wanted);
    await t.check(`${file} has something to run`, () => assert.ok(steps.length > 0));
    const github = await standInForGitHub();
    const folder = workFolder();
    const server = await start({ ACTIONS_GITHUB_API: `http://127.0.0.1:${github.port}`, MAGIC_LINK_SECRET,
        EMAIL_SINK_DIR: path.join(folder, "mails"), WEB_BASE_URL: `${WRITTEN_AS}/api/app` });
    for (const { name, text, expected } of steps)
        await t.check(name, async () => {
            const written = await runShell(text, folder, server.port);
            if (expected)
                assertWritten(expected, written);
        });
    await t.check(`the server of ${file} ends well`, async () => assert.equal(await server.stop(), ""));
    github.stop();
}

// ---- the settings ----

// Every name that a module asks the environment for has a row in the table of its document.
async function checkSettings(t, document, sources) {
    const code = sources.map((file) => fs.readFileSync(path.join(ROOT, file), "utf8")).join("\n");
    const names = [...new Set([...code.matchAll(/"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"/g)].map((match) => match[1]))]
        .filter((name) => !name.startsWith("AUTH_")); // codes of errors
    const rows = fs.readFileSync(path.join(ROOT, document), "utf8").split("\n").filter((line) => line.startsWith("| `"));
    await t.check(`${document} tells of every setting`, () => {
        assert.ok(names.length > 10);
        assert.deepEqual(names.filter((name) => !rows.some((row) => row.split("|")[1].includes(`\`${name}\``))), []);
    });
}

(async () => {
    const t = tally("docs");
    await checkSettings(t, "docs/actions.md", ["src/domain/actions/settings.c"]);
    await checkSettings(t, "docs/scheduler.md", ["src/domain/scheduler/settings.c", "src/domain/auth/session.c"]);
    await runDocument(t, "docs/actions.md", () => true);
    await runDocument(t, "docs/scheduler.md", () => true);
    await runDocument(t, "README.md", (text) => text.includes(WRITTEN_AS) && !/(^|\s)\.\/dev/m.test(text));
    process.exit(t.end());
})().catch((error) => {
    console.error(error);
    process.exit(1);
});
