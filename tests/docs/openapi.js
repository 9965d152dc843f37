// openapi.js -- openapi.json is valid, complete, and what the server does.
//
// The document by itself; its examples against its schemas; its operations against the function folders; every request
// of `x-calls` sent to a running server, and a good one of each operation to a server whose storage is gone: the answer
// must be one that the document describes.
//
// A call: { name, status }, and of these what it needs: `path`, `query`, `headers` (name to value; "{etag}" is the
// ETag of the path's last 200); `body` (name of one of the operation's examples), `value` (any JSON), `text` or `bytes`
// (a record of that length); `key` (false: none; "code": in the query); `fresh` (sent before anything is stored);
// `storage` (false: it needs none). "{token}", "{session}", "{user}", "{group}", "{spare}" and "{ignite}" stand for what
// signIn has made: a link's token, a session and whose it is, two groups of theirs, an ignite session of the first.
// Parameters of the path that a call does not give are the document's examples.
//
// SPDX-License-Identifier: MIT
"use strict";

const assert = require("node:assert/strict");
const { createHash, createHmac, randomUUID } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const zlib = require("node:zlib");

const { ROOT, request, scratchFolder, start, standInForGitHub, support, tally } = require("./trestle.js");

const SUITE = "openapi";
const [{ default: Ajv }, { default: addFormats }] = support(SUITE, "ajv/dist/2020.js", "ajv-formats");

const METHODS = ["get", "head", "post", "put", "patch", "delete"];
const KEY = "key-of-the-test";
const SECRET = "secret-of-the-test";
const EMAIL = "ann@example.org";
// What the server says of connections and of itself, in every answer: no operation needs to name these.
const COMMON_HEADERS = ["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"];

const text = fs.readFileSync(path.join(ROOT, "openapi.json"), "utf8");
const doc = JSON.parse(text);
const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, strictTuples: false,
    allowUnionTypes: true, allErrors: true });
addFormats(ajv);
ajv.addVocabulary(["example", ...Object.keys(doc)]); // the whole document counts as a schema, for the sake of its parts
ajv.addSchema(doc, "openapi.json", undefined, false);

// ---- walking the document ----

const escaped = (name) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
const child = (node, ...names) => follow({
    pointer: names.reduce((pointer, name) => `${pointer}/${escaped(name)}`, node.pointer),
    value: names.reduce((value, name) => value?.[name], node.value),
});
const children = (node) => Object.keys(node.value ?? {}).map((name) => ({ name, ...child(node, name) }));

function follow(node) {
    const ref = node.value?.$ref;
    if (ref === undefined)
        return node;
    const names = ref.replace(/^#\//, "").split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
    const value = names.reduce((at, name) => at?.[name], doc);
    assert.ok(value !== undefined, `${ref} leads nowhere`);
    return { pointer: ref, value };
}

const root = { pointer: "#", value: doc };

function operations() {
    return children(child(root, "paths")).flatMap((item) => children(item)
        .filter((op) => METHODS.includes(op.name))
        .map((op) => ({ route: item.name, method: op.name, item, op, id: `${op.name.toUpperCase()} ${item.name}` })));
}

function parametersOf({ item, op }) {
    const lists = [child(item, "parameters"), child(op, "parameters")];
    return lists.flatMap((list) => children(list));
}

function assertFits(node, value) {
    const validate = ajv.getSchema(`openapi.json${node.pointer}`);
    assert.ok(validate, `no schema at ${node.pointer}`);
    assert.ok(validate(value), `${JSON.stringify(value)?.slice(0, 300)} against ${node.pointer}: ${
        ajv.errorsText(validate.errors)}`);
}

// ---- by itself ----

function refsIn(value, found = new Set()) {
    if (value !== null && typeof value === "object")
        for (const [name, inner] of Object.entries(value)) {
            if (name === "$ref")
                found.add(inner);
            refsIn(inner, found);
        }
    return found;
}

async function checkDocument(t) {
    await t.check("it is valid OpenAPI 3.1", async () => {
        const { Validator } = await import(path.join(ROOT,
            "tests/support/node_modules/@seriousme/openapi-schema-validator/index.js"));
        const validator = new Validator();
        const result = await validator.validate(structuredClone(doc));
        assert.ok(result.valid, JSON.stringify(result.errors, null, 1)?.slice(0, 2000));
        assert.equal(validator.version, "3.1");
    });
    await t.check("it is laid out with two blanks", () =>
        assert.ok(text === `${JSON.stringify(doc, null, 2)}\n`, "JSON.stringify(…, null, 2) gives something else"));
    await t.check("every reference leads somewhere, and every component is used", () => {
        const refs = refsIn(doc);
        for (const ref of refs)
            follow({ pointer: ref, value: { $ref: ref } });
        const unused = children(child(root, "components")).filter((kind) => kind.name !== "securitySchemes")
            .flatMap((kind) => children(kind).map((one) => `#/components/${kind.name}/${one.name}`))
            .filter((pointer) => !refs.has(pointer));
        assert.deepEqual(unused, []);
    });
    await t.check("operations have names of their own and known tags", () => {
        const names = operations().map(({ op }) => op.value.operationId);
        assert.equal(new Set(names).size, names.length);
        const tags = doc.tags.map((tag) => tag.name);
        for (const { id, op } of operations())
            assert.ok(op.value.tags?.length === 1 && tags.includes(op.value.tags[0]), id);
    });
}

// ---- examples ----

// [name, node] of each example of a media type, a parameter or a header.
function examplesOf(node) {
    const named = children(child(node, "examples")).map((one) => [one.name, child(one, "value")]);
    return node.value.example === undefined ? named : [["example", child(node, "example")], ...named];
}

async function checkExamples(t) {
    const checkEach = (where, node) => Promise.all(examplesOf(node).map(([name, example]) =>
        t.check(`${where}, ${name}`, () => assertFits(child(node, "schema"), example.value))));
    for (const it of operations()) {
        for (const parameter of parametersOf(it))
            await checkEach(`${it.id} ${parameter.value.name}`, parameter);
        const bodies = [child(it.op, "requestBody"), ...children(child(it.op, "responses"))];
        for (const body of bodies)
            for (const media of children(child(body, "content"))) {
                await t.check(`${it.id} ${body.name ?? "request"} has an example`, () =>
                    assert.ok(examplesOf(media).length > 0));
                await checkEach(`${it.id} ${body.name ?? "request"}`, media);
            }
        for (const answer of children(child(it.op, "responses")))
            for (const header of children(child(answer, "headers")))
                await t.check(`${it.id} ${answer.name} ${header.name} is told`, () =>
                    assert.ok(header.value.description && header.value.schema));
    }
}

// ---- the function folders ----

function functions() {
    const prefix = JSON.parse(fs.readFileSync(path.join(ROOT, "host.json"), "utf8")).extensions.http.routePrefix;
    return fs.readdirSync(ROOT).filter((name) => fs.existsSync(path.join(ROOT, name, "function.json")))
        .map((name) => JSON.parse(fs.readFileSync(path.join(ROOT, name, "function.json"), "utf8")).bindings
            .find((binding) => binding.type === "httpTrigger"))
        .filter((trigger) => trigger !== undefined)
        .flatMap((trigger) => trigger.methods.filter((method) => method !== "options")
            .map((method) => `${method.toUpperCase()} /${prefix}/${trigger.route.replace("{*", "{")} ` +
                trigger.authLevel)).sort();
}

async function checkFunctions(t) {
    await t.check("operations, methods and levels are those of the function folders", () => {
        const told = operations().map(({ id, op }) => `${id} ${op.value.security ? "function" : "anonymous"}`).sort();
        assert.deepEqual(told, functions());
    });
}

// ---- a running server ----

const settings = () => ({
    TRESTLE_FUNCTION_KEY: KEY,
    STATE_CONTAINER: "scheduler-state",
    MAGIC_LINK_SECRET: SECRET,
    EMAIL_SINK_DIR: scratchFolder(),
    WEB_BASE_URL: "https://example.org",
});

function tokenFor(email) {
    const now = Math.floor(Date.now() / 1000);
    const claims = { v: 1, sub: email, jti: randomUUID(), purpose: "login", iat: now, exp: now + 900 };
    const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
    return `${payload}.${createHmac("sha256", SECRET).update(payload).digest("base64url")}`;
}

// What calls of the scheduler need to be good.
async function signIn(port) {
    const headers = {};
    const post = async (target, value) => {
        const answer = await request(port, { method: "POST", target, headers, body: JSON.stringify(value) });
        assert.equal(answer.status, 200, `${target}: ${answer.body}`);
        return JSON.parse(answer.body);
    };
    const token = tokenFor(EMAIL);
    const session = (await post("/api/auth/consume-link", { token })).sessionId;
    headers["x-session-id"] = session;
    const group = (await post("/api/group/create", { groupName: "Family", creatorName: "Ann" })).groupId;
    const spare = (await post("/api/group/create", { groupName: "Spare" })).groupId;
    const ignite = (await post("/api/ignite/start", { groupId: group })).sessionId;
    return { token, session, group, spare, ignite, user: createHash("sha256").update(EMAIL).digest("hex") };
}

const filled = (call, facts) => JSON.parse(Object.entries(facts).reduce((json, [name, value]) =>
    json.replaceAll(`{${name}}`, value), JSON.stringify(call)));

function bodyOf(call, op) {
    if (call.bytes !== undefined) {
        const frame = JSON.stringify({ owner: "o", name: "n", x: "" });
        return frame.replace('""', `"${"x".repeat(call.bytes - frame.length)}"`);
    }
    if (call.text !== undefined)
        return call.text;
    if (call.value !== undefined)
        return JSON.stringify(call.value);
    if (call.body === undefined)
        return undefined;
    const media = child(child(op, "requestBody"), "content", "application/json");
    const example = child(child(media, "examples", call.body), "value");
    assert.ok(example.value !== undefined, `there is no ${example.pointer}`);
    return JSON.stringify(example.value);
}

function targetOf(it, call) {
    const known = Object.fromEntries(parametersOf(it).filter((p) => p.value.in === "path")
        .map((p) => [p.value.name, p.value.example]));
    const given = { ...known, ...call.path };
    const query = new URLSearchParams(call.query);
    if (it.op.value.security && call.key === "code")
        query.set("code", KEY);
    return it.route.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(given[name])) +
        (query.size > 0 ? `?${query}` : "");
}

function headersOf(it, call, etag) {
    const headers = { ...call.headers };
    if (it.op.value.security && call.key === undefined)
        headers["x-functions-key"] = KEY;
    for (const name of Object.keys(headers))
        headers[name] = headers[name].replace("{etag}", etag);
    return headers;
}

function assertHeaders(answer, described) {
    const told = children(child(described, "headers"));
    for (const header of told) {
        const value = answer.headers[header.name.toLowerCase()];
        assert.ok(value !== undefined || !header.value.required, `header ${header.name} is missing`);
        const numeric = /^\d+$/.test(value) && header.value.schema.type !== "string";
        if (value !== undefined)
            assertFits(child(header, "schema"), numeric ? Number(value) : value);
    }
    const known = new Set([...COMMON_HEADERS, ...told.map((header) => header.name.toLowerCase())]);
    assert.deepEqual(Object.keys(answer.headers).filter((name) => !known.has(name)), [], "headers nobody told of");
}

function assertBody(answer, described, method) {
    const types = children(child(described, "content"));
    if (types.length === 0 || method === "head") {
        assert.equal(answer.body.length, 0, "a body nobody told of");
        return;
    }
    const type = answer.headers["content-type"].split(";")[0];
    const media = types.find((one) => one.name === type);
    assert.ok(media, `type ${type} is not told of`);
    const packed = answer.headers["content-encoding"] === "gzip";
    const body = (packed ? zlib.gunzipSync(answer.body) : answer.body).toString();
    assertFits(child(media, "schema"), type === "application/json" ? JSON.parse(body) : body);
}

const send = (server, it, call, etag) => request(server.port, {
    method: it.method.toUpperCase(),
    target: targetOf(it, call),
    headers: headersOf(it, call, etag),
    body: bodyOf(call, it.op),
});

function assertDescribed(it, answer) {
    const described = child(child(it.op, "responses"), String(answer.status));
    assert.ok(described.value, `status ${answer.status} is not told of`);
    assertHeaders(answer, described);
    assertBody(answer, described, it.method);
}

async function sendCall(server, it, call, etags) {
    const answer = await send(server, it, call, etags.get(it.route) ?? "");
    assert.equal(answer.status, call.status, answer.body.toString().slice(0, 300));
    if (answer.status === 200 && answer.headers.etag)
        etags.set(it.route, answer.headers.etag);
    assertDescribed(it, answer);
}

async function checkServer(t) {
    const github = await standInForGitHub();
    const server = await start({ ...settings(), ACTIONS_GITHUB_API: `http://127.0.0.1:${github.port}` });
    const etags = new Map();
    const calls = operations().flatMap((it) => (it.op.value["x-calls"] ?? []).map((call) => ({ it, call })));
    const inOrder = [...calls.filter(({ call }) => call.fresh), ...calls.filter(({ call }) => !call.fresh)];
    const facts = await signIn(server.port);
    for (const { it, call } of inOrder)
        await t.check(`${it.id}: ${call.name}`, () => sendCall(server, it, filled(call, facts), etags));
    await t.check("every operation is called", () =>
        assert.deepEqual(operations().filter(({ op }) => !op.value["x-calls"]?.length).map(({ id }) => id), []));
    await t.check("what is served is the file", async () => {
        const { body } = await request(server.port, { method: "GET", target: "/api/openapi.json" });
        assert.equal(body.toString(), text);
    });
    await t.check("the server ends well", async () => assert.equal(await server.stop(), ""));
    github.stop();
}

// ---- a server without its storage ----

// The well-known account of the emulator, where nobody listens.
const GONE = ["Table", "Blob", "Queue"].reduce((text, service) =>
    `${text};${service}Endpoint=http://127.0.0.1:1/devstoreaccount1`, "DefaultEndpointsProtocol=http;" +
    "AccountName=devstoreaccount1;AccountKey=" +
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==");

// What succeeds elsewhere fails here, and as it is described, but for what needs no storage.
async function checkWithoutStorage(t) {
    const names = ["AZURE_TABLES_CONNECTION_STRING", "AZURE_STORAGE_CONNECTION_STRING"];
    const gone = Object.fromEntries(names.map((name) => [name, GONE]));
    const server = await start({ ...settings(), ACTIONS_GITHUB_API: "http://127.0.0.1:1", ...gone },
        ["--storage", "azure"]);
    const facts = { token: tokenFor(EMAIL), session: randomUUID(), group: randomUUID(), spare: randomUUID(),
        ignite: randomUUID(), user: "0".repeat(64) };
    for (const it of operations()) {
        const call = it.op.value["x-calls"].find(({ status }) => status < 300);
        if (call === undefined) // none is good without more than this test has: an AI, a picture
            continue;
        await t.check(`${it.id} without storage`, async () => {
            const answer = await send(server, it, filled(call, facts), "");
            assertDescribed(it, answer);
            const needsNone = it.op.value.tags.includes("service") || call.storage === false;
            assert.equal(answer.status < 500, needsNone, `status ${answer.status}`);
        });
    }
    await t.check("the server without storage ends well", async () => assert.equal(await server.stop(), ""));
}

(async () => {
    const t = tally(SUITE);
    await checkDocument(t);
    await checkExamples(t);
    await checkFunctions(t);
    await checkServer(t);
    await checkWithoutStorage(t);
    process.exit(t.end());
})().catch((error) => {
    console.error(error);
    process.exit(1);
});
