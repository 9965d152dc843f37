// actions_sdk.js -- the peer of the catalogue: Node's http server and @azure/data-tables, doing what ActionsUpsert does.
//
// PORT, CONNECTION (a connection string; the table is "actions"), MAKE_TABLE=1 to make it first. Also a loader without HTTP:
//   node actions_sdk.js load FILE WIDTH      upserts every line of FILE, WIDTH at once; prints one line of JSON
'use strict';
const crypto = require('crypto'), fs = require('fs'), http = require('http');
const { TableClient } = require('../../support/node_modules/@azure/data-tables');

const client = TableClient.fromConnectionString(process.env.CONNECTION, 'actions', { allowInsecureConnection: true });

const ordered = v => v === null || typeof v !== 'object' ? v : Array.isArray(v) ? v.map(ordered)
  : Object.fromEntries(Object.keys(v).sort().map(key => [key, ordered(v[key])]));

async function upsert(record) {
  const [owner, name] = [record.owner.trim(), record.name.trim()];
  const PayloadJson = JSON.stringify(ordered({ ...record, owner, name }));
  const PayloadHash = crypto.createHash('sha256').update(PayloadJson).digest('hex');
  const partitionKey = owner.toLowerCase(), rowKey = name.toLowerCase();
  let stored;
  try { stored = await client.getEntity(partitionKey, rowKey); } catch (e) { if (e.statusCode !== 404) throw e; }
  if (stored && stored.PayloadHash === PayloadHash) return { updated: false, created: false, owner, name, lastSyncedUtc: stored.LastSyncedUtc };
  const LastSyncedUtc = new Date().toISOString();
  const row = { partitionKey, rowKey, PayloadJson, PayloadHash, LastSyncedUtc, Owner: owner, Name: name };
  if (stored) await client.updateEntity(row, 'Replace', { etag: stored.etag }); else await client.createEntity(row);
  return { updated: true, created: !stored, owner, name, lastSyncedUtc: LastSyncedUtc };
}

function serve() {
  http.createServer((req, res) => {
    if (req.method === 'GET') { res.end('ok'); return; }
    const pieces = [];
    req.on('data', piece => pieces.push(piece));
    req.on('end', async () => {
      let status = 200, body;
      // The load writes one key from many connections: who was slower reads again, as often as Trestle does.
      for (let i = 0; i < 4; i++) {
        try { body = await upsert(JSON.parse(Buffer.concat(pieces))); status = body.created ? 201 : 200; break; }
        catch (e) { status = 500; body = { error: String(e) }; if (e.statusCode !== 412 && e.statusCode !== 409) break; }
      }
      const text = JSON.stringify(body);
      res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
      res.end(text);
    });
  }).listen(+process.env.PORT, '127.0.0.1', 1024);
}

async function load(file, width) {
  const lines = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean), began = process.hrtime.bigint();
  let next = 0, created = 0, unchanged = 0, failed = 0; // above 32,768 characters the SDK's rows do not hold a record
  await Promise.all(Array.from({ length: width }, async () => {
    while (next < lines.length) {
      const got = await upsert(JSON.parse(lines[next++])).catch(e => { if (e.statusCode !== 400 && e.statusCode !== 413) throw e; failed++; return {}; });
      if (got.created) created++; else if (got.updated === false) unchanged++;
    }
  }));
  console.log(JSON.stringify({ records: lines.length, created, unchanged, failed, seconds: Number(process.hrtime.bigint() - began) / 1e9 }));
}

(async () => {
  if (process.env.MAKE_TABLE) await client.createTable();
  if (process.argv[2] === 'load') await load(process.argv[3], +process.argv[4]); else serve();
})().catch(e => { console.error(String(e)); process.exit(1); });
