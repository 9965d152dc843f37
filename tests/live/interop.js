// interop.js CONNECTION NAME -- the official clients' side of test_interop.c.
//
// Checks what the C side wrote to table, container and queue NAME, then writes the same with the official
// clients for the C side to read, under keys that begin with "js". Says what differs, and exits with 1 then.
//
// SPDX-License-Identifier: MIT
"use strict";

const assert = require("node:assert/strict");
const path = require("node:path");

const modules = path.join(__dirname, "../support/node_modules/@azure");
const { TableClient } = require(path.join(modules, "data-tables"));
const { BlobServiceClient } = require(path.join(modules, "storage-blob"));
const { QueueServiceClient } = require(path.join(modules, "storage-queue"));

const [connection, name] = process.argv.slice(2);

const ODD_KEYS = ["", " blanks ", "o'brien", "a+b", "c%d", "%2F", "ü😀", "日本", "a&b=c", "a,b(c)", "\"<>|"];
const TEXT = "o'b \"ü😀\" \u0001\n</x>";
const BYTES = Buffer.from([0, 1, 0xff, 0]);
const GUID = "c9da6455-213d-42c9-9a79-3e9149a57833";
const TIME = "2024-02-29T12:34:56.1234567Z";
const LARGE_PARTS = 15;
const LARGE_BYTES = 65536;

const large = (part) => Buffer.alloc(LARGE_BYTES, part + 1);

// As the client gives them without conversion: { value, type } wherever JSON has no type of its own.
const TYPED = {
    text: TEXT,
    empty: "",
    int32: -42,
    int64: { value: "-9223372036854775808", type: "Int64" },
    double: { value: 3, type: "Double" },
    fraction: { value: -2.5, type: "Double" },
    nan: { value: "NaN", type: "Double" },
    infinite: { value: "-Infinity", type: "Double" },
    yes: true,
    time: { value: TIME, type: "DateTime" },
    guid: { value: GUID, type: "Guid" },
    bytes: { value: BYTES.toString("base64"), type: "Binary" },
};

function assertTyped(entity) {
    for (const [key, want] of Object.entries(TYPED)) {
        const got = entity[key];
        const [gotValue, wantValue] = [got?.value ?? got, want?.value ?? want];
        assert.equal(String(gotValue), String(wantValue), `property ${key}`);
        if (want?.type && want.type !== "Double")
            assert.equal(got.type, want.type, `type of ${key}`);
    }
}

async function tables() {
    const client = TableClient.fromConnectionString(connection, name, { allowInsecureConnection: true });
    const raw = { disableTypeConversion: true };

    assertTyped(await client.getEntity("c", "typed", raw));
    for (const key of ODD_KEYS) {
        const got = await client.getEntity("c" + key, key);
        assert.deepEqual([got.partitionKey, got.rowKey, got.n], ["c" + key, key, 7]);
    }
    const big = await client.getEntity("c", "large");
    for (let i = 0; i < LARGE_PARTS; i++)
        assert.ok(large(i).equals(Buffer.from(big["part" + i])), `part ${i}`);
    const batch = [];
    for await (const row of client.listEntities({ queryOptions: { filter: "PartitionKey eq 'cbatch'" } }))
        batch.push(row.n);
    assert.deepEqual(batch, [...Array(100).keys()]);

    await client.createEntity({ partitionKey: "js", rowKey: "typed", ...TYPED });
    for (const key of ODD_KEYS)
        await client.upsertEntity({ partitionKey: "js" + key, rowKey: key, n: 7 }, "Replace");
    const parts = Object.fromEntries([...Array(LARGE_PARTS).keys()].map((i) => ["part" + i, large(i)]));
    await client.createEntity({ partitionKey: "js", rowKey: "large", ...parts });
    const rows = [...Array(100).keys()].map((n) => [
        "create", { partitionKey: "jsbatch", rowKey: String(n).padStart(3, "0"), n }]);
    await client.submitTransaction(rows);
    const etag = (await client.getEntity("c", "typed")).etag; // as the C side has read it, too
    await client.updateEntity({ partitionKey: "c", rowKey: "typed", changed: true }, "Merge", { etag });
}

async function blobs() {
    const container = BlobServiceClient.fromConnectionString(connection).getContainerClient(name);
    const got = container.getBlockBlobClient("c/dir b/ü&.txt");
    const properties = await got.getProperties();
    assert.equal(properties.contentType, "text/plain");
    assert.deepEqual(properties.metadata, { owner: "c side", n: "1" });
    assert.equal((await got.downloadToBuffer()).toString(), "from c");
    assert.equal((await container.getBlobClient("c/blocks").downloadToBuffer()).length, 33 * 1024 * 1024);
    const log = await container.getAppendBlobClient("c/log").downloadToBuffer();
    assert.equal(log.toString(), "one\ntwo\n");

    await container.getBlockBlobClient("js/dir b/ü&.txt").upload("from js", 7, {
        blobHTTPHeaders: { blobContentType: "text/x-js" },
        metadata: { owner: "js side", n: "2" },
    });
    const blocks = container.getBlockBlobClient("js/blocks");
    const ids = ["000", "001", "002"].map((id) => Buffer.from(id).toString("base64"));
    for (const [i, id] of ids.entries())
        await blocks.stageBlock(id, Buffer.alloc(1000, 97 + i), 1000);
    await blocks.commitBlockList(ids);
    const append = container.getAppendBlobClient("js/log");
    await append.create();
    await append.appendBlock("one\n", 4);
}

async function queues() {
    const queue = QueueServiceClient.fromConnectionString(connection).getQueueClient(name);
    const { receivedMessageItems: [message] } = await queue.receiveMessages({ visibilityTimeout: 3600 });
    assert.equal(Buffer.from(message.messageText, "base64").toString(), "from c <&> ü");
    await queue.deleteMessage(message.messageId, message.popReceipt);
    await queue.sendMessage(Buffer.from("from js <&> ü").toString("base64"));
}

(async () => {
    await tables();
    await blobs();
    await queues();
    console.log("both sides agree");
})().catch((error) => {
    console.error(error);
    process.exit(1);
});
