// gen_actions.js N [SEED] [CHANGED] -- writes N records of the Actions catalogue to stdout as NDJSON, 1.7 KB each on average.
//
// The same numbers give the same bytes. Owners have few actions or many, as in reality (a handful of owners hold hundreds); about
// one record in 500 is beyond 32,000 characters. CHANGED: so many records, spread evenly, differ from those without it.
'use strict';

function random(seed) { // xorshift32: enough for shapes, and the same everywhere
  let x = (seed * 2654435761 >>> 0) || 1;
  return () => { x ^= x << 13; x >>>= 0; x ^= x >>> 17; x ^= x << 5; x >>>= 0; return x / 4294967296; };
}

const WORDS = ['build', 'cache', 'deploy', 'release', 'lint', 'test', 'sign', 'publish', 'scan', 'notify', 'label', 'setup', 'upload',
  'artifact', 'branch', 'coverage', 'container', 'workflow', 'version', 'report', 'Überprüfung', 'naïve', '日本語', '🚀'];
const TYPES = [['Node', '', '20'], ['Node', '', '16'], ['Docker', 'Dockerfile', null], ['Docker', 'Image', null], ['Composite', '', null],
  ['Unknown', '', null], ['No file found', '', null]];

function make(i, rnd, changed) {
  const pick = list => list[Math.floor(rnd() * list.length)], below = n => Math.floor(rnd() * n), chance = p => rnd() < p;
  const hex = n => { let s = ''; while (s.length < n) s += (below(0x10000000) + 0x10000000).toString(16); return s.slice(0, n); };
  const words = n => Array.from({ length: n }, () => pick(WORDS)).join(' ');
  const when = () => new Date(1600000000000 + below(150000000) * 1000).toISOString().replace('.000Z', chance(0.5) ? 'Z' : '.000Z');
  // Squaring twice crowds the low numbers: some owners are large.
  const owner = `owner-${Math.floor(rnd() ** 4 * 9000)}`, repo = `${pick(WORDS.slice(0, 20))}-${i}`;
  const [actionType, actionDockerType, nodeVersion] = pick(TYPES);
  const major = 1 + below(6), tags = [];
  for (let k = below(10); k >= 0; k--) tags.push({ tag: `v${major}.${k}.${below(9)}`, sha: hex(40) });
  const r = {
    owner: chance(0.3) ? owner[0].toUpperCase() + owner.slice(1) : owner, name: `${owner}_${repo}`,
    actionType: { actionType, fileFound: actionType === 'No file found' ? 'No file found' : pick(['action.yml', 'action.yaml']), actionDockerType, nodeVersion },
    repoInfo: { archived: chance(0.06), disabled: chance(0.01), updated_at: when(), latest_release_published_at: chance(0.7) ? when() : null },
    tagInfo: chance(0.8) ? tags : tags.map(t => t.tag), releaseInfo: tags.slice(0, 6).map(t => t.tag),
    forkFound: chance(0.9), mirrorLastUpdated: when(), mirrorCommitSha: hex(40), repoSize: below(50000), dependabotEnabled: chance(0.5),
    secretScanningEnabled: chance(0.3), vulnerabilityStatus: { critical: below(2), high: below(5), lastUpdated: when() },
    verified: chance(0.1), dependents: { dependents: pick(['0', '25', '1,204', '15,368,157', '999+']), dependentsLastUpdated: when() },
    versionShaMap: Object.fromEntries(tags.map(t => [t.tag, t.sha])),
  };
  if (chance(0.7)) r.description = words(4 + below(16));
  if (chance(0.4)) Object.assign(r, { ossf: true, ossfScore: Math.round(rnd() * 100) / 10, ossfDateLastUpdate: when().slice(0, 10) });
  if (actionType === 'Docker') r.actionType.containerScan = { critical: below(3), high: below(9), lastScanned: when() };
  const observations = chance(0.002) ? 140 : chance(0.2) ? 1 + below(3) : 0;
  if (observations > 0) {
    r.immutableReleasePolicy = pick(['enabled', 'disabled', 'unknown']);
    r.immutableReleaseObservations = Array.from({ length: observations }, (_, k) => ({ releaseId: 100000 + k, tagName: `v${major}.${k}.0`, publishedAt: when(),
      immutabilityState: pick(['immutable', 'mutable']), status: 'observed', observedAt: when(), source: 'api', resolvedCommitSha: hex(40) }));
  }
  if (changed) r.repoSize += 1;
  return r;
}

function* records(n, seed = 1, changed = 0) {
  const rnd = random(seed), every = changed > 0 ? Math.max(1, Math.floor(n / changed)) : 0;
  for (let i = 0; i < n; i++) yield make(i, rnd, every > 0 && i % every === 0 && i / every < changed);
}
module.exports = { records };

if (require.main === module) {
  const [n, seed = 1, changed = 0] = process.argv.slice(2).map(Number);
  if (!(n > 0)) {
    console.error('usage: node gen_actions.js N [SEED] [CHANGED]');
    process.exit(2);
  }
  let lines = [], bytes = 0;
  const flush = () => { require('fs').writeSync(1, lines.join('')); lines = []; bytes = 0; };
  for (const r of records(n, seed, changed)) {
    const line = JSON.stringify(r) + '\n';
    lines.push(line);
    if ((bytes += line.length) > 1 << 20) flush();
  }
  flush();
}
