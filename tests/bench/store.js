// store.js -- the storage part of ./dev bench: our client against nginx's proxy_pass, the embedded store against Azurite.
//
// The stand-in for the Tables service is nginx with one canned entity. Client or proxy have core 0 to themselves, the stand-in
// and the load generator core 1.
'use strict';
const { execFileSync } = require('child_process');
const fs = require('fs'), path = require('path');

const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='; // Azurite's public one
const ENTITY_PATH = "/devstoreaccount1/actions(PartitionKey='o',RowKey='n')";
const WIDTH = '64', SCAN_ROWS = '100000', SMALL = '1000', LARGE = '1000000';

module.exports = ({ BIN, TMP, ROUNDS, SECONDS, QUICK, start, stop, freePort, load, row, say, median }) => {
  const account = (scheme, port) => `DefaultEndpointsProtocol=${scheme};AccountName=devstoreaccount1;AccountKey=${KEY};` +
    `TableEndpoint=${scheme}://127.0.0.1:${port}/devstoreaccount1;`;

  function measure(kind, place, mode, numbers, { env = {}, core } = {}) {
    const argv = [`${BIN}/tests/bench/store_bench`, kind, place, mode, ...numbers.map(String)];
    const out = execFileSync(core === undefined ? argv[0] : 'taskset', core === undefined ? argv.slice(1) : ['-c', core, ...argv],
      { env: { ...process.env, ...env } }).toString();
    const got = JSON.parse(out);
    return { ...got, rate: got.operations / got.seconds, perCpu: got.operations / got.cpu, us: got.cpu / got.operations * 1e6 };
  }

  const temp = dir => ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(n => `${n}_temp_path ${dir}/${n};`).join(' ');
  const nginx = (name, servers) => {
    const dir = path.join(TMP, name), conf = path.join(dir, 'nginx.conf');
    fs.mkdirSync(dir, { recursive: true });
    fs.writeFileSync(conf, `worker_processes 1; daemon off; master_process off; pid ${dir}/pid; error_log ${dir}/err error;
      events { worker_connections 4096; }
      http { access_log off; tcp_nodelay on; keepalive_requests 1000000000; keepalive_timeout 3600s; ${temp(dir)} ${servers} }`);
    return ['nginx', '-p', dir, '-c', conf, '-e', `${dir}/err`];
  };

  // nginx's variables and quotes: the entity stands in single quotes.
  const entity = JSON.stringify({
    'odata.metadata': 'http://127.0.0.1/devstoreaccount1/metadata#actions/@Element', 'odata.etag': "W/\"datetime'2026-01-02T03%3A04%3A05.0000000Z'\"",
    PartitionKey: 'o', RowKey: 'n', 'Timestamp@odata.type': 'Edm.DateTime', Timestamp: '2026-01-02T03:04:05.0000000Z',
    PayloadHash: '4b85'.repeat(16), PayloadJson: 'a record of moderate length; '.repeat(65) }).replace(/\\/g, '\\\\').replace(/'/g, "\\'");
  const standIn = listen => `server { listen ${listen}; default_type application/json;
      location = /health { return 200 'ok'; }
      location / { add_header ETag "W/\\"datetime'2026-01-02T03%3A04%3A05.0000000Z'\\""; return 200 '${entity}'; } }`;

  async function client() {
    say('tables_get, 64 at once, one core: trestle, nginx proxy_pass, trestle over TLS');
    const [plain, tls, proxy] = [await freePort(), await freePort(), await freePort()];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1',
      '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', `${TMP}/key.pem`, '-out', `${TMP}/cert.pem`], { stdio: 'ignore' });
    const service = await start('stand-in', nginx('stand-in', standIn(`127.0.0.1:${plain}`) + standIn(`127.0.0.1:${tls} ssl`).replace('default_type',
      `ssl_certificate ${TMP}/cert.pem; ssl_certificate_key ${TMP}/key.pem; default_type`)), {}, plain, '/health', '1');
    const hop = await start('proxy', nginx('proxy', `upstream tables { server 127.0.0.1:${plain}; keepalive 256; keepalive_requests 1000000000; }
      server { listen 127.0.0.1:${proxy}; proxy_http_version 1.1; proxy_set_header Connection "";
        location / { proxy_pass http://tables; } }`), {}, proxy, '/health');
    hop.where = ENTITY_PATH;
    const cells = { proxy: [], plain: [], tls: [] };
    for (let i = 0; i < ROUNDS; i++) {
      cells.proxy.push(load(hop, 64, SECONDS));
      cells.plain.push(measure('azure', account('http', plain), 'one', [WIDTH, QUICK ? SECONDS : 2 * SECONDS], { core: '0' }));
      cells.tls.push(measure('azure', account('https', tls), 'one', [WIDTH, QUICK ? SECONDS : 2 * SECONDS], { core: '0', env: { TRESTLE_CA_FILE: `${TMP}/cert.pem` } }));
      say(`  proxy ${cells.proxy[i].usPerRequest.toFixed(1)} µs, tables_get ${cells.plain[i].us.toFixed(1)} µs, TLS ${cells.tls[i].us.toFixed(1)} µs CPU each`);
    }
    await stop(service.child);
    await stop(hop.child);
    const m = (name, key) => median(cells[name].map(c => c[key]));
    const ratio = m('plain', 'perCpu') / m('proxy', 'perCpu');
    row('tables_get: per CPU second, trestle ÷ nginx proxy_pass', `${ratio.toFixed(2)} (${m('plain', 'us').toFixed(1)} against ${m('proxy', 'usPerRequest').toFixed(1)} µs CPU)`, '≥ 0.4', ratio >= 0.4);
    row('tables_get over TLS: per CPU second ÷ nginx proxy_pass without', `${(m('tls', 'perCpu') / m('proxy', 'perCpu')).toFixed(2)} (${m('tls', 'us').toFixed(1)} µs CPU)`, '');
    for (const name of ['plain', 'tls']) {
      const per = median(cells[name].map(c => c.connections / c.operations * 1000));
      row(`tables_get: connections opened per 1,000 (${name})`, per.toFixed(2), '< 1', per < 1);
    }
  }

  async function embedded() {
    say('embedded store and Azurite, 64 at once');
    const ports = [await freePort(), await freePort(), await freePort()], dir = path.join(TMP, 'embedded');
    const azurite = await start('Azurite', ['node', 'tests/support/node_modules/azurite/dist/src/azurite.js', '--silent', '--disableTelemetry', '--inMemoryPersistence',
      '--blobPort', ports[0], '--queuePort', ports[1], '--tablePort', ports[2]].map(String), {}, ports[2], '/', '1', () => true);
    const place = { azure: account('http', ports[2]), embedded: dir };
    for (const kind of ['azure', 'embedded']) measure(kind, place[kind], 'fill', [SMALL]);
    const cells = { azure: { get: [], put: [] }, embedded: { get: [], put: [] } };
    for (let i = 0; i < ROUNDS; i++) for (const mode of ['get', 'put']) for (const kind of ['azure', 'embedded']) {
      const got = measure(kind, place[kind], mode, [WIDTH, SECONDS, SMALL]);
      cells[kind][mode].push(got.rate);
      say(`  ${kind} ${mode}: ${Math.round(got.rate)} a second`);
    }
    await stop(azurite.child);
    for (const [mode, least, what] of [['get', 20, 'point reads'], ['put', 10, 'durable writes']]) {
      const [ours, theirs] = [median(cells.embedded[mode]), median(cells.azure[mode])];
      row(`embedded: ${what}, 64 at once, ÷ Azurite`, `${(ours / theirs).toFixed(1)} (${Math.round(ours)} against ${Math.round(theirs)} a second)`, `≥ ${least}`, ours / theirs >= least);
    }
    const large = QUICK ? '50000' : LARGE;
    say(`embedded: filling a partition of ${large} rows`);
    measure('embedded', dir, 'fill', [large]);
    const small = [], big = [];
    for (let i = 0; i < ROUNDS; i++) {
      small.push(measure('embedded', dir, 'get', ['1', SECONDS, SMALL]).rate);
      big.push(measure('embedded', dir, 'get', ['1', SECONDS, large]).rate);
    }
    const slower = median(small) / median(big);
    row(`embedded: point read among ${(+large).toLocaleString('en')} rows ÷ among 1,000 (time)`, slower.toFixed(2), '≤ 1.5', slower <= 1.5);
    measure('embedded', dir, 'fill', [SCAN_ROWS]);
    const scan = measure('embedded', dir, 'scan', [SCAN_ROWS]);
    if (scan.operations !== +SCAN_ROWS) throw new Error(`the scan saw ${scan.operations} rows`);
    row('embedded: streaming 100,000 rows, peak memory', `${scan.peak_mb.toFixed(1)} MB, ${Math.round(scan.rate)} rows/s`, '≤ 32 MB', scan.peak_mb <= 32);
  }

  return async () => { await client(); await embedded(); };
};
