// trestle.js -- starts the built program with an empty embedded store on a free port, and counts checks.
//
// What the tests of this folder share. The program gets PATH, the sanitizers' options and what the test says, and
// nothing else of the environment. It never outlives the test.
//
// SPDX-License-Identifier: MIT
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const path = require("node:path");

const ROOT = path.join(__dirname, "../..");
const START_MS = 60_000;
const ANSWER_MS = 60_000;

const cleanups = [];
process.on("exit", () => cleanups.forEach((clean) => clean()));

function scratchFolder() {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), "trestle-docs-"));
    cleanups.push(() => fs.rmSync(dir, { recursive: true, force: true }));
    return dir;
}

function environment(more) {
    const kept = ["PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"].filter((name) => process.env[name]);
    return { ...Object.fromEntries(kept.map((name) => [name, process.env[name]])), ...more };
}

// The port that it says it listens on; fails with what it wrote when it ends before that.
function portSaid(child, said) {
    return new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`not ready in ${START_MS} ms:\n${said.text}`)), START_MS);
        const look = () => {
            const port = /standalone on http:\/\/127\.0\.0\.1:(\d+)/.exec(said.text)?.[1];
            if (port) {
                clearTimeout(late);
                resolve(Number(port));
            }
        };
        for (const stream of [child.stdout, child.stderr])
            stream.on("data", (piece) => {
                said.text += piece;
                look();
            });
            child.on("error", reject);
        child.on("exit", (code) => reject(new Error(`it ended with ${code}:\n${said.text}`)));
    });
}

const program = () => process.env.TRESTLE_PROGRAM ?? path.join(ROOT, "bin/trestle");

// { port, stop() }. stop gives what it wrote when it did not end as it should, else nothing.
async function start(env, storage = ["--storage", "embedded", "--data", scratchFolder()]) {
    const args = ["serve", "--root", ROOT, "--port", "0", ...storage];
    const child = spawn(program(), args, { env: environment(env), stdio: ["ignore", "pipe", "pipe"] });
    const said = { text: "" };
    const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));
    cleanups.push(() => child.kill("SIGKILL"));
    const port = await portSaid(child, said);
    return {
        port,
        stop: async () => {
            child.kill("SIGTERM");
            const result = await ended;
            return result === 0 ? "" : `it ended with ${result}:\n${said.text}`;
        },
    };
}

// Resolves to { status, headers, body }, with the body as it came.
function request(port, { method, target, headers, body }) {
    return new Promise((resolve, reject) => {
        const options = { host: "127.0.0.1", port, method, path: target, headers, agent: false, timeout: ANSWER_MS };
        const out = http.request(options, (answer) => {
            const pieces = [];
            answer.on("data", (piece) => pieces.push(piece));
            answer.on("error", reject);
            answer.on("end", () =>
                resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(pieces) }));
        });
        out.on("timeout", () => out.destroy(new Error(`no answer in ${ANSWER_MS} ms`)));
        out.on("error", reject);
        out.end(body);
    });
}

// A server that answers with what answerTo(request) gives: { status, type, body }. { port, stop() }.
async function standIn(answerTo) {
    const server = http.createServer((incoming, reply) => {
        const { status, type, body } = answerTo(incoming);
        reply.writeHead(status, { "Content-Type": type });
        reply.end(body);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { port: server.address().port, stop: () => server.close() };
}

// GitHub with two repositories.
function standInForGitHub() {
    return standIn((incoming) => {
        const known = /^\/repos\/(acme-labs\/setup-widget|actions\/checkout)\/readme/i.test(incoming.url);
        if (!known)
            return { status: 404, type: "application/json", body: '{"message":"Not Found"}' };
        return incoming.headers.accept?.includes("html")
            ? { status: 200, type: "text/html", body: '<h1>About this action</h1>\n<img src="logo.png">\n' }
            : { status: 200, type: "application/json", body: '{"path":"README.md","name":"README.md"}' };
    });
}

// check(name, fn): a check that throws has failed, the others go on. end() prints the line that tests/support/tally.py
// reads, and gives the exit code.
function tally(suite) {
    let passed = 0, failed = 0;
    return {
        async check(name, fn) {
            try {
                await fn();
                passed++;
            } catch (error) {
                failed++;
                console.error(`${suite}: ${name}: ${error.message}`);
            }
        },
        end() {
            console.log(`${suite}: ${passed} passed, ${failed} failed`);
            return failed === 0 && passed > 0 ? 0 : 1;
        },
    };
}

const SKIPPED = 77;

// The npm packages of tests/support; a test without them is skipped.
function support(suite, ...names) {
    try {
        return names.map((name) => require(path.join(ROOT, "tests/support/node_modules", name)));
    } catch {
        console.error(`${suite}: npm ci has not been run in tests/support`);
        console.log(`${suite}: 0 passed, 0 failed, 1 skipped`);
        return process.exit(SKIPPED);
    }
}

module.exports = { ROOT, program, request, scratchFolder, start, standIn, standInForGitHub, support, tally };
