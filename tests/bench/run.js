// run.js -- speed and memory against peers, in one interleaved run; called by ./dev bench.
//
// Absolute figures differ from machine to machine and from minute to minute; the ratios within a run are what counts. The server
// under test has core 0 to itself, the load generator core 1. CPU seconds are the server's own user + system time. Parts can be
// named: ./dev bench storage
'use strict';
const { spawn, execFileSync } = require('child_process');
const fs = require('fs'), net = require('net'), os = require('os'), path = require('path'), http = require('http');

const BIN = 'build/bench';
const QUICK = process.argv.includes('--quick');
const ROUNDS = QUICK ? 1 : 5, SECONDS = QUICK ? 1 : 3, STARTS = QUICK ? 5 : 41;
const HERE = __dirname, TMP = fs.mkdtempSync(path.join(os.tmpdir(), 'trestle-bench-'));
const CLK = +execFileSync('getconf', ['CLK_TCK']), PAGE = +execFileSync('getconf', ['PAGESIZE']);
const started = [];

const sleep = ms => new Promise(done => setTimeout(done, ms));
const median = list => list.slice().sort((a, b) => a - b)[list.length >> 1];
const say = text => process.stderr.write(text + '\n');

function freePort() {
  return new Promise((done, fail) => {
    const s = net.createServer().on('error', fail);
    s.listen(0, '127.0.0.1', () => { const { port } = s.address(); s.close(() => done(port)); });
  });
}

function get(port, where) {
  return new Promise((done, fail) => {
    http.get({ port, host: '127.0.0.1', path: where, agent: false }, res => { res.resume(); res.on('end', () => done(res.statusCode)); }).on('error', fail);
  });
}

// `core`: which one it has to itself; `ready`: the status that says it is up.
async function start(name, argv, env, port, where, core = '0', ready = status => status === 200) {
  const child = spawn('taskset', ['-c', core, ...argv], { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] });
  started.push(child);
  for (let i = 0; i < 400; i++) {
    if (child.exitCode !== null) throw new Error(`${name} ended with code ${child.exitCode}`);
    try { if (ready(await get(port, where))) return { name, child, port, where }; } catch { /* not listening yet */ }
    await sleep(25);
  }
  throw new Error(`${name} did not answer on port ${port}`);
}

function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise(done => { child.once('exit', done); child.kill('SIGTERM'); setTimeout(() => child.kill('SIGKILL'), 3000).unref(); });
}

// utime + stime of a process in seconds, and its resident memory in MB.
function cpuOf(pid) {
  const f = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, '').split(' ');
  return (+f[11] + +f[12]) / CLK;
}
const rssOf = pid => +fs.readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1] * PAGE / 1048576;

function load(server, connections, seconds) {
  const before = cpuOf(server.child.pid);
  const out = execFileSync('taskset', ['-c', '1', 'wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--latency', `http://127.0.0.1:${server.port}${server.where}`]).toString();
  const cpu = cpuOf(server.child.pid) - before;
  const requests = +/(\d+) requests in/.exec(out)[1];
  if (/Non-2xx/.test(out)) throw new Error(`${server.name}: not all answers were 2xx`);
  return { rps: +/Requests\/sec:\s+([\d.]+)/.exec(out)[1], perCpu: requests / cpu, usPerRequest: cpu / requests * 1e6 };
}

const table = [];
function row(what, value, target, ok) { table.push({ what, value, target, verdict: ok === undefined ? '' : ok ? 'met' : 'SHORT' }); }

async function health() {
  say('health, 64 connections, one core: trestle, nginx, node');
  const conf = path.join(TMP, 'nginx.conf'), ports = [await freePort(), await freePort(), await freePort()];
  fs.writeFileSync(conf, `worker_processes 1; daemon off; master_process off; pid ${TMP}/nginx.pid; error_log ${TMP}/nginx.err;
    events { worker_connections 4096; }
    http { access_log off; keepalive_requests 1000000000; keepalive_timeout 3600s;
      client_body_temp_path ${TMP}/cb; proxy_temp_path ${TMP}/px; fastcgi_temp_path ${TMP}/fc; uwsgi_temp_path ${TMP}/uw; scgi_temp_path ${TMP}/sc;
      server { listen 127.0.0.1:${ports[1]} backlog=1024; default_type application/json;
        location / { return 200 '{"ok":true,"time":"2026-01-02T03:04:05.678Z","version":"0.1.0"}'; } } }`);
  const servers = [
    await start('trestle', [`${BIN}/trestle`], { FUNCTIONS_CUSTOMHANDLER_PORT: ports[0] }, ports[0], '/api/health'),
    await start('nginx', ['nginx', '-p', TMP, '-c', conf, '-e', `${TMP}/nginx.err`], {}, ports[1], '/api/health'),
    await start('node', ['node', `${HERE}/peers/hello.js`], { FUNCTIONS_CUSTOMHANDLER_PORT: ports[2] }, ports[2], '/api/health'),
  ];
  const got = Object.fromEntries(servers.map(s => [s.name, []]));
  for (let i = 0; i < ROUNDS; i++) for (const s of servers) { got[s.name].push(load(s, 64, SECONDS)); say(`  ${s.name}: ${Math.round(got[s.name][i].rps)} requests/s, ${got[s.name][i].usPerRequest.toFixed(1)} µs CPU each`); }
  for (const s of servers) await stop(s.child);
  const m = (name, key) => median(got[name].map(r => r[key]));
  const ratio = m('trestle', 'perCpu') / m('nginx', 'perCpu');
  row('health: requests per CPU second, trestle ÷ nginx return 200', ratio.toFixed(2), '≥ 0.8', ratio >= 0.8);
  row('health: requests per CPU second, trestle ÷ node http', (m('trestle', 'perCpu') / m('node', 'perCpu')).toFixed(1), '');
  for (const s of servers) row(`health: ${s.name}`, `${Math.round(m(s.name, 'rps'))} req/s, ${m(s.name, 'usPerRequest').toFixed(1)} µs CPU`, '');
}

function coldOne(argv, runs) {
  const out = execFileSync('taskset', ['-c', '0', `${BIN}/tests/bench/coldstart`, String(runs), ...argv]).toString();
  const [, mid, best] = /median ([\d.]+) ms, best ([\d.]+) ms/.exec(out);
  return { mid: +mid, best: +best };
}

function coldStart() {
  say('cold start: trestle, Go, node');
  const goBin = path.join(TMP, 'hello-go');
  execFileSync('go', ['build', '-o', goBin, `${HERE}/peers/hello.go`], { env: { ...process.env, GOFLAGS: '-mod=mod', GO111MODULE: 'off', GOCACHE: path.join(TMP, 'go') }, stdio: 'inherit' });
  const cells = { trestle: [], go: [], node: [] };
  for (let i = 0; i < ROUNDS; i++) {
    cells.trestle.push(coldOne([`${BIN}/trestle`], STARTS));
    cells.go.push(coldOne([goBin], STARTS));
    cells.node.push(coldOne(['node', `${HERE}/peers/hello.js`], Math.max(3, STARTS >> 3)));
  }
  const m = name => median(cells[name].map(c => c.mid));
  const toGo = m('trestle') / m('go'), toNode = m('node') / m('trestle');
  row('cold start: trestle ÷ Go hello', `${toGo.toFixed(2)} (${m('trestle').toFixed(2)} ms, Go ${m('go').toFixed(2)} ms)`, '≤ 1', toGo <= 1);
  row('cold start: node http ÷ trestle', `${toNode.toFixed(1)} (node ${m('node').toFixed(1)} ms)`, '≥ 25', toNode >= 25);
}

async function memory() {
  say('memory: idle, 1,000 connections, 10,000 parked tasks');
  const port = await freePort();
  const s = await start('trestle', [`${BIN}/trestle`], { FUNCTIONS_CUSTOMHANDLER_PORT: port }, port, '/api/health');
  await sleep(300);
  const idle = rssOf(s.child.pid);
  row('memory: idle', `${idle.toFixed(1)} MB`, '≤ 8 MB', idle <= 8);
  const sockets = [];
  for (let i = 0; i < 1000; i++) {
    await new Promise((done, fail) => {
      const c = net.connect(port, '127.0.0.1', () => c.write('GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'));
      c.on('error', fail).once('data', done);
      sockets.push(c);
    });
  }
  await sleep(300);
  const more = rssOf(s.child.pid) - idle;
  row('memory: 1,000 idle keep-alive connections', `+${more.toFixed(1)} MB`, '≤ +8 MB', more <= 8);
  sockets.forEach(c => c.destroy());
  await stop(s.child);
  const out = execFileSync(`${BIN}/tests/bench/parked`, ['10000']).toString().trim();
  const total = +/([\d.]+) MB resident/.exec(out)[1];
  row('memory: 10,000 parked tasks', `${total.toFixed(1)} MB resident, ${/([\d.]+) KB each/.exec(out)[1]} KB each`, '≤ 64 MB', total <= 64);
}

// A record of about 40 members and 1.9 KB, and a document of 1 MB made of such records: always the same bytes.
function records() {
  const words = ['build', 'deploy', 'cache', 'setup "node"', 'übersetzen', 'lint\\check', 'release', 'naïve', 'scan', 'notify'];
  const one = n => {
    const r = { owner: 'acme', name: 'record-' + n };
    for (let i = 0; i < 34; i++) {
      const key = words[i % 10].replace(/\W/g, '') + (i * 7 % 34);
      r[key] = i % 5 === 0 ? i * 1013 : i % 5 === 1 ? i * 12.25 : i % 5 === 2 ? i % 3 === 0 : i % 5 === 3 ? null : words.join(' ') + ' ' + i + ' ' + words.join(', ');
    }
    r.tags = ['v1', 'v1.2', 'v1.2.3', 3, 4.5, null];
    r.place = { site: 'plant 4', floor: 2, geo: { lon: 9.125, lat: 48.75 } };
    r.history = [{ when: '2024-01-01T00:00:00Z', by: 'anna' }, { when: '2024-02-01T00:00:00Z', by: 'bob' }];
    return r;
  };
  const small = path.join(TMP, 'record.json'), big = path.join(TMP, 'big.json'), items = [];
  fs.writeFileSync(small, JSON.stringify(one(1)));
  for (let n = 0, i = 0; n < 1048576; i++) { const r = one(i); items.push(r); n += Buffer.byteLength(JSON.stringify(r)) + 1; }
  fs.writeFileSync(big, JSON.stringify({ items }));
  return { small, big };
}

function canonInNode(file) {
  const crypto = require('crypto'), text = fs.readFileSync(file);
  const sorted = v => v === null || typeof v !== 'object' ? v : Array.isArray(v) ? v.map(sorted)
    : Object.fromEntries(Object.keys(v).sort().map(k => [k, sorted(v[k])]));
  const once = () => crypto.createHash('sha256').update(JSON.stringify(sorted(JSON.parse(text)))).digest('hex');
  for (let until = Date.now() + 300; Date.now() < until;) once();
  let n = 0; const t0 = process.hrtime.bigint(), limit = BigInt(SECONDS) * 500000000n;
  while (process.hrtime.bigint() - t0 < limit) { once(); n++; }
  return text.length * n / (Number(process.hrtime.bigint() - t0) / 1e9) / 1e6;
}

function canon() {
  say('canonical JSON + SHA-256');
  const { small, big } = records();
  for (const [what, file, least] of [['a 1.9 KB record', small, 400], ['a 1 MB document', big, 450]]) {
    const speeds = [], nodes = [];
    for (let i = 0; i < ROUNDS; i++) {
      const out = execFileSync('taskset', ['-c', '0', `${BIN}/tests/bench/canon_bench`, file, String(SECONDS / 2)]).toString();
      speeds.push(+/canon\+sha256 .*?: ([\d.]+) MB\/s/.exec(out)[1]);
      nodes.push(canonInNode(file));
    }
    const v = median(speeds);
    row(`canon + SHA-256 of ${what} (${fs.statSync(file).size} bytes)`, `${v.toFixed(0)} MB/s, ${(v / median(nodes)).toFixed(1)} × node`, `≥ ${least} MB/s`, v >= least);
  }
}

function print() {
  const w = Math.max(...table.map(r => r.what.length)), v = Math.max(...table.map(r => r.value.length)), t = Math.max(...table.map(r => r.target.length));
  console.log();
  for (const r of table) console.log(`${r.what.padEnd(w)}  ${r.value.padEnd(v)}  ${r.target.padEnd(t)}  ${r.verdict}`.trimEnd());
}

const shared = { BIN, TMP, ROUNDS, SECONDS, QUICK, start, stop, freePort, load, cpuOf, rssOf, row, say, median, sleep };
const storage = require('./store.js')(shared), actions = require('./actions.js')(shared), scheduler = require('./scheduler.js')(shared);

(async () => {
  let code = 0;
  try { 
    const parts = { health, coldStart, memory, canon, storage, actions, scheduler };
    const named = process.argv.slice(2).filter(word => parts[word]);
    for (const name of named.length ? named : Object.keys(parts)) await parts[name]();
    print();
  } catch (e) { console.error(`bench: ${e.stack}`); code = 1; }
  for (const child of started) await stop(child);
  fs.rmSync(TMP, { recursive: true, force: true });
  process.exit(code);
})();
