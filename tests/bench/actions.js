// actions.js -- the catalogue's part of ./dev bench: upserts against nginx's proxy_pass and against Node with the Azure SDK, on a
// stand-in for the Tables service and on real stores; loading, listing and searching 35,000 records.
//
// U: the record is unchanged (one read). C: it has changed (a read and a write). Whoever serves has core 0 to itself, the stand-in
// and the load generator core 1.
'use strict';
const { execFileSync, spawn } = require('child_process');
const crypto = require('crypto'), fs = require('fs'), http = require('http'), path = require('path');

const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='; // Azurite's public one
const ROW = "/devstoreaccount1/actions(PartitionKey='o',RowKey='n')", UPSERT = '/api/ActionsUpsert';
const SDK = path.join(__dirname, 'peers/actions_sdk.js'), LUA = path.join(__dirname, 'post.lua');
const CLIENTS = 64, KEYS = 1024;

module.exports = ({ BIN, TMP, ROUNDS, SECONDS, QUICK, start, stop, freePort, cpuOf, rssOf, row, say, median, sleep }) => {
  const connection = port => `DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=${KEY};TableEndpoint=http://127.0.0.1:${port}/devstoreaccount1;`;

  // About 40 members and 1.9 KB; always the same bytes.
  function sample() {
    const words = ['checkout', 'cache', 'setup "go"', 'déployer', 'lint\\fix', 'release', 'naïve', 'scan', 'notify', 'publish'];
    const r = { owner: 'o', name: 'n' };
    for (let i = 0; i < 34; i++) {
      const key = words[i % 10].replace(/\W/g, '') + i * 7 % 34;
      r[key] = i % 5 === 0 ? i * 1013 : i % 5 === 1 ? i * 12.25 : i % 5 === 2 ? i % 3 === 0 : i % 5 === 3 ? null : `${words.join(' ')} ${i} ${words.join(', ')}`;
    }
    r.tagInfo = ['v1', 'v1.2', 'v1.2.3'];
    r.repoInfo = { archived: false, disabled: false, updated_at: '2026-02-11T08:15:42Z' };
    r.dependents = { dependents: '1,204', dependentsLastUpdated: '2026-02-08T22:10:05.6Z' };
    return r;
  }

  const ordered = v => v === null || typeof v !== 'object' ? v : Array.isArray(v) ? v.map(ordered)
    : Object.fromEntries(Object.keys(v).sort().map(key => [key, ordered(v[key])]));

  function post(server, kind, file, keys) {
    const before = cpuOf(server.child.pid);
    const out = execFileSync('taskset', ['-c', '1', 'wrk', '-t1', `-c${CLIENTS}`, `-d${SECONDS}s`, '--latency', '-s', LUA,
      `http://127.0.0.1:${server.port}${UPSERT}`, '--', file, kind, String(keys)]).toString();
    const cpu = cpuOf(server.child.pid) - before, requests = +/(\d+) requests in/.exec(out)[1];
    if (/Non-2xx/.test(out)) throw new Error(`${server.name}: not all answers were 2xx: ${out}`);
    return { rps: +/Requests\/sec:\s+([\d.]+)/.exec(out)[1], us: cpu / requests * 1e6 };
  }

  // ---- on the stand-in ----

  const temp = dir => ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(n => `${n}_temp_path ${dir}/${n};`).join(' ');
  function nginx(name, servers) {
    const dir = path.join(TMP, name), conf = path.join(dir, 'nginx.conf');
    fs.mkdirSync(dir, { recursive: true });
    fs.writeFileSync(conf, `worker_processes 1; daemon off; master_process off; pid ${dir}/pid; error_log ${dir}/err error;
      events { worker_connections 4096; }
      http { access_log off; tcp_nodelay on; keepalive_requests 1000000000; keepalive_timeout 3600s; client_body_buffer_size 64k; ${temp(dir)} ${servers} }`);
    return ['nginx', '-p', dir, '-c', conf, '-e', `${dir}/err`];
  }

  function standIn(port, record) {
    const PayloadJson = JSON.stringify(ordered(record)), etag = "W/\"datetime'2026-01-02T03%3A04%3A05.0000000Z'\"";
    const entity = JSON.stringify({ 'odata.metadata': 'http://127.0.0.1/devstoreaccount1/metadata#actions/@Element', 'odata.etag': etag, PartitionKey: 'o', RowKey: 'n',
      'Timestamp@odata.type': 'Edm.DateTime', Timestamp: '2026-01-02T03:04:05.0000000Z', PayloadHash: crypto.createHash('sha256').update(PayloadJson).digest('hex'),
      LastSyncedUtc: '2026-01-02T03:04:05.000Z', Owner: 'o', Name: 'n', PayloadJson }).replace(/\\/g, '\\\\').replace(/'/g, "\\'");
    const header = `add_header ETag "${etag.replace(/"/g, '\\"')}";`;
    return nginx('actions-stand-in', `server { listen 127.0.0.1:${port} backlog=1024; default_type application/json;
      location = /health { return 200 'ok'; }
      location ~ statsCache { return 404 '{"odata.error":{"code":"ResourceNotFound","message":{"lang":"en-us","value":"none"}}}'; }
      location ~ PartitionKey= { ${header} if ($request_method = GET) { return 200 '${entity}'; } return 204; }
      location / { ${header} return 204; } }`);
  }

  function proxy(port, upstream) {
    return nginx('actions-proxy', `upstream tables { server 127.0.0.1:${upstream}; keepalive 256; keepalive_requests 1000000000; }
      server { listen 127.0.0.1:${port} backlog=1024; proxy_http_version 1.1;
        location = /health { return 200 'ok'; }
        location / { proxy_method GET; proxy_pass_request_body off; proxy_set_header Content-Length ""; proxy_set_header Connection "";
          proxy_pass "http://tables${ROW}"; } }`);
  }

  async function onStandIn() {
    say('upserts on a stand-in for Tables, 64 connections, one core: trestle, nginx proxy_pass, Node + SDK');
    const ports = [await freePort(), await freePort(), await freePort(), await freePort()], record = sample(), file = path.join(TMP, 'record.post');
    fs.writeFileSync(file, JSON.stringify(record));
    const service = await start('stand-in', standIn(ports[0], record), {}, ports[0], '/health', '1');
    const servers = {
      proxy: await start('proxy', proxy(ports[1], ports[0]), {}, ports[1], '/health'),
      trestle: await start('trestle', [`${BIN}/trestle`], { FUNCTIONS_CUSTOMHANDLER_PORT: ports[2], AZURE_STORAGE_CONNECTION_STRING: connection(ports[0]),
        ACTIONS_CANON_TIMESTAMPS: '0' }, ports[2], '/api/health'),
      node: await start('node', ['node', SDK], { PORT: ports[3], CONNECTION: connection(ports[0]) }, ports[3], '/'),
    };
    const cells = {};
    for (let i = 0; i < ROUNDS; i++) for (const [name, kind] of [['proxy', 'same'], ['trestle', 'same'], ['node', 'same'], ['trestle', 'changed'], ['node', 'changed']]) {
      const got = post(servers[name], kind, file, kind === 'same' ? 1 : KEYS);
      (cells[`${name} ${kind}`] ??= []).push(got);
      say(`  ${name} ${kind}: ${Math.round(got.rps)} requests/s, ${got.us.toFixed(1)} µs CPU each`);
    }
    for (const s of [...Object.values(servers), service]) await stop(s.child);
    const m = (name, key) => median(cells[name].map(c => c[key]));
    for (const [what, kind, least] of [['U', 'same', 0.27], ['C', 'changed', 0.17]]) {
      const [ours, theirs, limit] = [m(`trestle ${kind}`, 'rps'), m(`node ${kind}`, 'rps'), m('proxy same', 'rps')];
      row(`upsert ${what}: requests/s ÷ nginx proxy_pass`, `${(ours / limit).toFixed(3)} (${Math.round(ours)} against ${Math.round(limit)}; ${m(`trestle ${kind}`, 'us').toFixed(1)} against ${m('proxy same', 'us').toFixed(1)} µs CPU)`, `≥ ${least}`, ours / limit >= least);
      row(`upsert ${what}: requests/s ÷ Node + SDK`, `${(ours / theirs).toFixed(1)} (Node ${Math.round(theirs)}, ${m(`node ${kind}`, 'us').toFixed(0)} µs CPU)`, '≥ 9', ours / theirs >= 9);
    }
  }

  // ---- on real stores ----

  async function azurite() {
    const ports = [await freePort(), await freePort(), await freePort()];
    const got = await start('Azurite', ['node', 'tests/support/node_modules/azurite/dist/src/azurite.js', '--silent', '--disableTelemetry', '--inMemoryPersistence',
      '--blobPort', ports[0], '--queuePort', ports[1], '--tablePort', ports[2]].map(String), {}, ports[2], '/', '1', () => true);
    return { ...got, connection: connection(ports[2]) };
  }

  async function embedded(name, env = {}) {
    const port = await freePort(), dir = path.join(TMP, name);
    const server = await start('trestle', [`${BIN}/trestle`, '--storage', 'embedded', '--data', dir, '--port', String(port)], env, port, '/api/health');
    return { ...server, base: `http://127.0.0.1:${port}` };
  }

  async function onStores() {
    say('upserts on real stores, 64 connections: trestle with the embedded store, Node + SDK with Azurite');
    const file = path.join(TMP, 'record.post'), emulator = await azurite(), port = await freePort();
    fs.writeFileSync(file, JSON.stringify(sample()));
    const servers = { trestle: await embedded('upserts'), node: await start('node', ['node', SDK], { PORT: port, CONNECTION: emulator.connection, MAKE_TABLE: '1' }, port, '/') };
    const cells = {};
    for (const name of ['trestle', 'node']) post(servers[name], 'same', file, 1); // makes the row, and warms up
    for (let i = 0; i < ROUNDS; i++) for (const name of ['trestle', 'node']) for (const [kind, keys] of [['changed', KEYS], ['same', 1]]) {
      const got = post(servers[name], kind, file, keys);
      (cells[`${name} ${kind}`] ??= []).push(got);
      say(`  ${name} ${kind}: ${Math.round(got.rps)} requests/s`);
    }
    for (const s of [...Object.values(servers), emulator]) await stop(s.child);
    const m = name => median(cells[name].map(c => c.rps));
    for (const [what, kind, least] of [['U', 'same', 20], ['C', 'changed', 10]]) {
      const [ours, theirs] = [m(`trestle ${kind}`), m(`node ${kind}`)];
      row(`upsert ${what}, embedded: requests/s ÷ Node + SDK + Azurite`, `${(ours / theirs).toFixed(1)} (${Math.round(ours)} against ${Math.round(theirs)})`, `≥ ${least}`, ours / theirs >= least);
    }
  }

  // ---- 35,000 records ----

  function fetchAll(url) {
    return new Promise((done, fail) => {
      const began = process.hrtime.bigint(), since = () => Number(process.hrtime.bigint() - began) / 1e6;
      http.get(url, { agent: false }, res => {
        let bytes = 0, first = 0, text = '';
        res.on('data', piece => { if (first === 0) first = since(); bytes += piece.length; if (bytes < 1048576) text += piece; });
        res.on('end', () => done({ status: res.statusCode, bytes, first, ms: since(), text, headers: res.headers }));
      }).on('error', fail);
    });
  }

  function importFile(file, base) {
    const began = process.hrtime.bigint();
    execFileSync(`${BIN}/trestle`, ['import', file, '--to', base], { stdio: ['ignore', 'ignore', 'pipe'] });
    return Number(process.hrtime.bigint() - began) / 1e9;
  }

  // Resident memory while something is going on, in MB: the highest of many looks.
  async function peakDuring(pid, work) {
    let peak = rssOf(pid), over = false;
    const result = work().finally(() => { over = true; });
    while (!over) { peak = Math.max(peak, rssOf(pid)); await sleep(3); }
    return { peak, result: await result };
  }

  async function large() {
    const count = QUICK ? 3500 : 35000, file = path.join(TMP, 'records.ndjson');
    say(`${count.toLocaleString('en')} records: loading, listing, searching`);
    fs.writeFileSync(file, execFileSync('node', [path.join(__dirname, 'gen_actions.js'), String(count)], { maxBuffer: 1 << 28 }));
    const emulator = await azurite(), node = JSON.parse(execFileSync('node', [SDK, 'load', file, String(CLIENTS)], { env: { ...process.env, CONNECTION: emulator.connection, MAKE_TABLE: '1' } }));
    await stop(emulator.child);
    say(`  Node + SDK into Azurite: ${node.seconds.toFixed(1)} s`);
    const server = await embedded('large'), first = importFile(file, server.base), second = importFile(file, server.base);
    say(`  trestle import: ${first.toFixed(2)} s, again ${second.toFixed(2)} s`);
    row(`import of ${count.toLocaleString('en')} records: time of Node + SDK + Azurite ÷ trestle, embedded`, `${(node.seconds / first).toFixed(1)} (${node.seconds.toFixed(1)} against ${first.toFixed(2)} s)`, '≥ 15', node.seconds / first >= 15);
    row('import again, nothing has changed: time ÷ the first', `${(second / first).toFixed(2)} (${second.toFixed(2)} s)`, '< 1', second < first);
    await stop(server.child);

    const fresh = await embedded('large'), list = await peakDuring(fresh.child.pid, () => fetchAll(`${fresh.base}/api/actions/list`));
    row('whole list: memory while it is streamed', `${list.peak.toFixed(1)} MB RSS for ${(list.result.bytes / 1e6).toFixed(1)} MB`, '≤ 48 MB', list.peak <= 48);
    row('whole list: first byte', `after ${list.result.first.toFixed(0)} of ${list.result.ms.toFixed(0)} ms`, 'before the end', list.result.first < list.result.ms / 2);

    await new Promise((done, fail) => http.request(`${fresh.base}/api/actions/snapshot/refresh`, { method: 'POST' }, res => { res.resume(); res.on('end', done); }).on('error', fail).end());
    const times = [], words = ['setup', 'docker build', 'deploy azure', 'cache', 'lint', 'a', 'node verified', 'terraform plan', 'zzz nothing', 'release'];
    for (let i = 0; i < (QUICK ? 50 : 500); i++) {
      const got = await fetchAll(`${fresh.base}/api/actions/search?q=${encodeURIComponent(words[i % words.length] + (i % 3 === 0 ? '' : ' ' + 'abcdefgh'[i % 8]))}`);
      if (got.status !== 200) throw new Error(`search answered ${got.status}`);
      times.push(got.ms);
    }
    const p95 = times.slice(5).sort((a, b) => a - b)[Math.floor((times.length - 5) * 0.95)];
    row(`search over ${count.toLocaleString('en')} records, embedded: p95`, `${p95.toFixed(1)} ms`, '≤ 20 ms', p95 <= 20);
    await stop(fresh.child);
  }

  return async () => { await onStandIn(); await onStores(); await large(); };
};
