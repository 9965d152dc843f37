// groups_sdk.js -- the peer of GET /api/me/groups: Node's http server and @azure/data-tables; the session is kept in memory.
//
// PORT, CONNECTION (a connection string), USER_KEY.
'use strict';
const http = require('http');
const { TableClient } = require('../../support/node_modules/@azure/data-tables');

const table = name => TableClient.fromConnectionString(process.env.CONNECTION, name, { allowInsecureConnection: true });
const memberships = table('UserGroups'), groups = table('Groups'), user = process.env.USER_KEY;

async function mine() {
  const found = [];
  for await (const m of memberships.listEntities({ queryOptions: { filter: `PartitionKey eq '${user}'` } })) if (m.status !== 'removed') found.push(m);
  const all = [];
  for (let i = 0; i < found.length; i += 16) {
    all.push(...await Promise.all(found.slice(i, i + 16).map(async m => ({ m, g: await groups.getEntity('group', m.rowKey) }))));
  }
  return all.filter(({ g }) => !g.isDeleted)
    .sort((a, b) => (a.m.status !== 'active') - (b.m.status !== 'active') || a.g.groupName.localeCompare(b.g.groupName))
    .map(({ m, g }) => ({ groupId: g.groupId, groupName: g.groupName, myStatus: m.status, invitedAt: m.invitedAt ?? null, joinedAt: m.joinedAt ?? null, removedAt: null, updatedAt: g.updatedAt }));
}

http.createServer(async (req, res) => {
  let status = 200, text = 'ok';
  try { if (req.url.startsWith('/api/me/groups')) text = JSON.stringify({ ok: true, groups: await mine() }); } catch (e) { status = 500; text = String(e); }
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  res.end(text);
}).listen(+process.env.PORT, '127.0.0.1', 1024);
