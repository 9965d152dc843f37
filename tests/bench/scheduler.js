// scheduler.js -- the scheduler's part of ./dev bench: a person's 50 groups, on a stand-in for the storage services, against Node
// with the Azure SDK. Whoever serves has core 0 to itself, the stand-in and the load generator core 1.
'use strict';
const { execFileSync } = require('child_process');
const crypto = require('crypto'), fs = require('fs'), path = require('path');

const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='; // Azurite's public one
const ACCOUNT = 'devstoreaccount1', GROUPS = 50, CLIENTS = 16, SESSION = '5f8f1d4e-2b1c-4c62-9d53-0a6f5b6c7d8e';
const USER = crypto.createHash('sha256').update('ann@example.org').digest('hex');

module.exports = ({ BIN, TMP, ROUNDS, SECONDS, start, stop, freePort, cpuOf, row, say, median }) => {
  const connection = port => ['Table', 'Blob', 'Queue'].reduce((text, name) => `${text}${name}Endpoint=http://127.0.0.1:${port}/${ACCOUNT};`,
    `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY};`);
  const id = n => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const etag = "W/\"datetime'2026-01-02T03%3A04%3A05.0000000Z'\"";
  const quoted = value => `'${JSON.stringify(value).replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`;
  const common = { 'odata.etag': etag, 'Timestamp@odata.type': 'Edm.DateTime', Timestamp: '2026-01-02T03:04:05.0000000Z' };

  function standIn(port) {
    const dir = path.join(TMP, 'sched-stand-in'), conf = path.join(dir, 'nginx.conf');
    fs.mkdirSync(dir, { recursive: true });
    const memberships = Array.from({ length: GROUPS }, (_, n) => ({ ...common, PartitionKey: USER, RowKey: id(n), groupId: id(n), status: n % 7 === 6 ? 'invited' : 'active',
      joinedAt: '2026-01-02T03:04:05.678Z', updatedAt: '2026-01-02T03:04:05.678Z' }));
    const group = { ...common, PartitionKey: 'group', RowKey: id(1), groupId: id(1), groupName: 'Sunday table', createdAt: '2026-01-02T03:04:05.678Z',
      updatedAt: '2026-01-02T03:04:05.678Z', createdByUserKey: USER, isDeleted: false };
    const session = { v: 1, email: 'ann@example.org', kind: 'full', createdAt: '2026-01-02T03:04:05.678Z', expiresAt: '2099-01-02T03:04:05.678Z' };
    const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(n => `${n}_temp_path ${dir}/${n};`).join(' ');
    fs.writeFileSync(path.join(dir, 'memberships.json'), JSON.stringify({ value: memberships })); // too long for a line of the configuration
    // The log counts the calls of storage: one line each.
    fs.writeFileSync(conf, `worker_processes 1; daemon off; master_process off; pid ${dir}/pid; error_log ${dir}/err error; events { worker_connections 4096; }
      http { log_format one '$request_method $request_uri'; access_log ${dir}/calls one buffer=64k flush=200ms; tcp_nodelay on; keepalive_requests 1000000000; keepalive_timeout 3600s; ${temp}
      server { listen 127.0.0.1:${port} backlog=1024; default_type application/json;
        location = /health { access_log off; return 200 'ok'; }
        location ~ sessions/ { add_header ETag '"0x1"'; add_header Last-Modified 'Fri, 02 Jan 2026 03:04:05 GMT'; add_header x-ms-blob-type BlockBlob; return 200 ${quoted(session)}; }
        location ~ UserGroups { root ${dir}; try_files /memberships.json =404; }
        location ~ Groups.PartitionKey { add_header ETag ${quoted(etag).replace(/^'"|"'$/g, "'")}; return 200 ${quoted(group)}; }
        location ~ Tables$ { return 204; }
        location / { return 404 '{"odata.error":{"code":"ResourceNotFound","message":{"lang":"en-us","value":"none"}}}'; } } }`);
    return { argv: ['nginx', '-p', dir, '-c', conf, '-e', `${dir}/err`], calls: path.join(dir, 'calls') };
  }

  function load(server) {
    const before = cpuOf(server.child.pid);
    const out = execFileSync('taskset', ['-c', '1', 'wrk', '-t1', `-c${CLIENTS}`, `-d${SECONDS}s`, '-H', `x-session-id: ${SESSION}`, `http://127.0.0.1:${server.port}/api/me/groups`]).toString();
    const cpu = cpuOf(server.child.pid) - before, requests = +/(\d+) requests in/.exec(out)[1];
    if (/Non-2xx/.test(out)) throw new Error(`${server.name}: not all answers were 2xx: ${out}`);
    return { rps: +/Requests\/sec:\s+([\d.]+)/.exec(out)[1], us: cpu / requests * 1e6 };
  }

  return async () => {
    say(`me/groups with ${GROUPS} groups, ${CLIENTS} connections, one core: trestle, Node + SDK`);
    const [store, ours, theirs] = [await freePort(), await freePort(), await freePort()], service = standIn(store);
    const stand = await start('stand-in', service.argv, {}, store, '/health', '1');
    const servers = {
      trestle: await start('trestle', [`${BIN}/trestle`], { FUNCTIONS_CUSTOMHANDLER_PORT: ours, AZURE_STORAGE_CONNECTION_STRING: connection(store), STATE_CONTAINER: 'state' }, ours, '/api/health'),
      node: await start('node', ['node', path.join(__dirname, 'peers/groups_sdk.js')], { PORT: theirs, CONNECTION: connection(store), USER_KEY: USER }, theirs, '/'),
    };
    // One call by itself, behind a first one that reads the session and makes the tables.
    const one = async () => {
      const got = await fetch(`http://127.0.0.1:${ours}/api/me/groups`, { headers: { 'x-session-id': SESSION } });
      const body = await got.json();
      if (got.status !== 200 || body.groups.length !== GROUPS) throw new Error(`me/groups answered ${got.status} with ${body.groups?.length} groups`);
      await new Promise(done => setTimeout(done, 600)); // the log's buffer
      return fs.readFileSync(service.calls, 'utf8').trim().split('\n');
    };
    const before = (await one()).length, calls = (await one()).slice(before);
    const queries = calls.filter(c => /UserGroups/.test(c)).length, reads = calls.filter(c => /\/Groups(\(|%28)PartitionKey/.test(c)).length;
    row(`me/groups: storage calls for ${GROUPS} groups`, `${queries} query + ${reads} reads + ${calls.length - queries - reads} others`, `1 + ≤ ${GROUPS} + 0`, queries === 1 && reads <= GROUPS && calls.length === queries + reads);
    const cells = { trestle: [], node: [] };
    for (let i = 0; i < ROUNDS; i++) for (const name of Object.keys(servers)) {
      cells[name].push(load(servers[name]));
      say(`  ${name}: ${Math.round(cells[name][i].rps)} requests/s, ${cells[name][i].us.toFixed(0)} µs CPU each`);
    }
    for (const s of [...Object.values(servers), stand]) await stop(s.child);
    const m = (name, key) => median(cells[name].map(c => c[key]));
    const share = m('trestle', 'us') / m('node', 'us');
    row('me/groups: CPU per request ÷ Node + SDK', `1/${(1 / share).toFixed(1)} (${m('trestle', 'us').toFixed(0)} against ${m('node', 'us').toFixed(0)} µs)`, '≤ 1/8', share <= 1 / 8);
  };
};
