// canon_vectors.js -- writes test vectors for canonical JSON, as Node itself computes them.
//
//     node tests/support/canon_vectors.js [COUNT [SEED]] > tests/unit/core/canon_vectors.txt
//
// Each line is an input, a tab, and what JSON.stringify gives after JSON.parse and sorting all keys. The first
// lines are chosen by hand, COUNT further ones at random; the same SEED gives the same lines. With COUNT given
// as "numbers:N" the random ones are N arrays of doubles in every notation. No input holds a tab or line feed.
// SPDX-License-Identifier: MIT
'use strict';

const [count = '300', seed = '1'] = process.argv.slice(2);

function sortKeys(v) {
  if (v === null || typeof v !== 'object') return v;
  if (Array.isArray(v)) return v.map(sortKeys);
  const o = {};
  for (const k of Object.keys(v).sort()) o[k] = sortKeys(v[k]);
  return o;
}

// xorshift128+ in 32-bit halves would do too; this one is short and good enough to pick test cases.
let state = BigInt(seed) * 0x9E3779B97F4A7C15n + 0x1234567n;
function random64() {
  state = BigInt.asUintN(64, state + 0x9E3779B97F4A7C15n);
  let z = state;
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xBF58476D1CE4E5B9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94D049BB133111EBn);
  return z ^ (z >> 31n);
}
const below = n => Number(random64() % BigInt(n));
const pick = list => list[below(list.length)];

const cell = new DataView(new ArrayBuffer(8));
function fromBits(bits) { cell.setBigUint64(0, BigInt.asUintN(64, bits)); return cell.getFloat64(0); }
function bitsOf(d) { cell.setFloat64(0, d); return cell.getBigUint64(0); }

function randomDouble() {
  switch (below(9)) {
    case 0: return below(2000) - 1000;
    case 1: return below(1000000) / pick([10, 100, 1000, 8]);
    case 2: return Number(random64() >> BigInt(below(64)));                      // integers of any size
    case 3: return fromBits(BigInt(below(2047)) << 52n);                          // powers of two
    case 4: return fromBits((BigInt(below(2047)) << 52n) + BigInt(below(5) - 2)); // and their neighbours
    case 5: return fromBits(random64() & 0xFFFFFFFFFFFFFn);                       // subnormals
    case 6: return Number(`${below(10000)}e${below(640) - 325}`);
    case 7: return fromBits(bitsOf(Number(`1e${below(617) - 308}`)) + BigInt(below(5) - 2));
    default: { const d = fromBits(random64()); return Number.isFinite(d) ? d : 1.5; }
  }
}

// A JSON spelling of a double; not always the shortest, nor always of that very double.
function spellNumber() {
  const d = randomDouble(), x = Number.isFinite(d) ? d : 1e308;
  let s;
  switch (below(8)) {
    case 0: s = x.toExponential(below(21)); break;
    case 1: s = x.toPrecision(1 + below(21)); break;
    case 2: s = Math.abs(x) < 1e21 ? x.toFixed(below(21)) : String(x); break;
    case 3: s = String(x) + (/[.e]/.test(String(x)) ? '' : '.' + '0'.repeat(1 + below(4))); break;
    case 4: s = BigInt(Math.trunc(Math.abs(x) < 1e40 ? x : 7)).toString() + pick(['', 'e5', 'E-3', 'e+0', '.5']); break;
    case 5: s = `${below(10)}.${'0'.repeat(below(12))}${random64()}${random64()}e${below(700) - 350}`; break;
    case 6: s = midpoint(x); break;
    default: s = String(x);
  }
  return below(12) === 0 ? '-' + s.replace(/^-/, '') : s;
}

// Exactly between two doubles, or a digit above or below: where rounding is decided by the very last digit.
function midpoint(x) {
  const bits = bitsOf(Math.abs(x)), exponent = Number(bits >> 52n) || 1;
  const m = (bits & 0xFFFFFFFFFFFFFn) + (bits >> 52n ? 1n << 52n : 0n), twice = 2n * m + 1n, power = exponent - 1076;
  if (power > 300 || power < -400) return String(x);
  const digits = power >= 0 ? (twice << BigInt(power)).toString() : (twice * 5n ** BigInt(-power)).toString();
  const scale = power >= 0 ? 0 : power, tail = pick(['', '', '0', '1', '000000000001']);
  const end = below(3) === 0 ? (BigInt(digits + tail) - 1n).toString() : digits + tail;
  return `${end}e${scale - tail.length}`;
}

const CHARS = ['a', 'b', 'z', 'A', 'Z', '_', '$', ' ', '0', '1', '9', '"', '\\', '/', '\b', '\f', '\n', '\r', '\t', '\0', '\x01',
  '\x1f', '\x7f', '\x80', 'é', 'ß', '\u07ff', '\u0800', '\u2028', '\u2029', '\ud7ff', '\ud800', '\udbff', '\udc00', '\udfff',
  '\ue000', '\ufeff', '\uffff', '\u{10000}', '\u{1f600}', '\u{10ffff}'];
const KEYS = ['', 'a', 'b', 'k', 'name', 'owner', '__proto__', '__proto', '__proto__x', 'constructor', 'toString', 'toJSON', 'length',
  '0', '1', '2', '9', '10', '01', '00', '-1', '1.5', '1e3', '4294967293', '4294967294', '4294967295', '4294967296', '99999999999',
  'aaaaaaaaaaaaaaa', 'aaaaaaaaaaaaaaab', 'aaaaaaaaaaaaaaaa', 'aaaaaaaaaaaaaa', 'aaaaaaa', 'aaaaaaaa', 'aaaaaaa\0', 'aaaaaaaaaaaaaaa\0',
  'immutableReleasePolicy', 'immutableReleasePolicyReason', 'immutableReleasePolicySource', '\u{1f600}', '\ue000', '\ud83d', '\ude00',
  '\ud83dz', '\uffff', 'é', 'z\u{1f600}', 'z\uff5e'];

function randomText() {
  let s = '';
  for (let n = below(4) ? below(8) : below(60); n > 0; n--) s += below(3) ? pick(CHARS) : String.fromCharCode(97 + below(26));
  return s;
}

const SHORT = { '"': '\\"', '\\': '\\\\', '/': '\\/', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
function spellString(text) {
  const eager = below(4) === 0;
  let s = '"';
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i), hex = unit.toString(16).padStart(4, '0');
    const paired = (unit & 0xFC00) === 0xD800 && (text.charCodeAt(i + 1) & 0xFC00) === 0xDC00;
    const mustEscape = unit < 0x20 || text[i] === '"' || text[i] === '\\' || ((unit & 0xF800) === 0xD800 && !paired);
    if ((mustEscape || text[i] === '/') && SHORT[text[i]] && below(2)) s += SHORT[text[i]];
    else if (mustEscape || (eager && below(3) === 0)) s += '\\u' + (below(2) ? hex : hex.toUpperCase());
    else if (paired) s += text[i] + text[++i];
    else s += text[i];
  }
  return s + '"';
}

let compact = false;
const gap = () => compact || below(3) ? '' : pick([' ', '  ', '\r']);
function spellValue(depth) {
  const kind = below(depth > 4 ? 7 : depth > 0 ? 9 + below(3) : 11);
  if (kind < 2) return spellNumber();
  if (kind < 5) return spellString(randomText());
  if (kind < 7) return pick(['true', 'false', 'null', '-0', '0', '1.0', '[]', '{}', '[ ]', '{ }', '""', '1e400', '-1e400']);
  const parts = [];
  for (let n = below(kind === 10 && depth < 2 ? 30 : 4); n > 0; n--) {
    const key = kind >= 9 ? gap() + spellString(below(4) ? pick(KEYS) : randomText()) + gap() + ':' : '';
    parts.push(key + gap() + spellValue(depth + 1) + gap());
  }
  return kind >= 9 ? `{${parts.join()}}` : `[${parts.join()}]`;
}

const CHOSEN = [
  'null', ' true ', '"x"', '0', '-0', '[]', '{}', '[ ]', '{ }', '[[[[[]]]]]',
  '[9007199254740991,9007199254740992,9007199254740993,9007199254740994,9007199254740995]',
  '[1e20,1e21,123456789012345678901,1e22,1e23,-1e21,999999999999999999999,999999999999999900000]',
  '[0.1,0.01,0.000001,0.0000001,0.00000123,1e-6,1e-7,123e-8,0.10,0.0,-0.0,0e5,-0e-5,0.0000000]',
  '[5e-324,4.9e-324,2.4703282292062327e-324,2.4703282292062328e-324,2.2250738585072014e-308,2.2250738585072011e-308,1e-400]',
  '[1.7976931348623157e308,1.7976931348623158e308,1.7976931348623159e308,1e308,1e309,-1e309,1e99999999999999999999]',
  '[5.684341886080801e-14,5.684341886080802e-14,1.1920928955078125e-7,9.5367431640625e-7,4.440892098500626e-16]',
  '[0.3,0.30000000000000004,0.1234567890123456789,123456.7890123456,100,1E2,1e+2,1.5E+1,2.50,12e-1,1000000000000000128]',
  `[1${'0'.repeat(400)}e-400,0.${'0'.repeat(400)}1e401,${'9'.repeat(900)}e-880,0e99999999999999,1e-99999999999999]`,
  '{"b":1,"10":2,"9":3,"a":4,"01":5,"-1":6,"":7,"4294967294":8,"4294967295":9}',
  '{"\\u006b":1,"k":2,"\\u006B":3}', '{"k":2,"\\u006b":1}', '{"\\u005f_proto__":{"x":1},"a":2}', '{"__proto__":[1],"length":2,"a":{"__proto__":null}}',
  '{"\\ue000":1,"\\ud83d\\ude00":2,"Z":3,"a":4,"\\ud83d":5,"\\ude00":6,"\\ud83d\\ud83d\\ude00":7}',
  '["\\ud83d\\ude00","\\ud83d","\\ude00\\ud83d","\\uD83D\\u0041","\\ud83dx\\ude00","\\u0000\\u001f\\u007f\\u2028\\/\\b\\f\\n\\r\\t\\"\\\\"]',
  '{"a":{"b":{"a":1,"a":2},"a":3},"a":{"z":1,"y":[{"d":1,"c":2}]}}', '[1,2,3.0,4,5]', '[{"a":1},{"b":1,"a":2},{"a":1}]', '{"a":1, "b":2}', '{"a":1,"b":2,"c":[1 ,2]}',
  '1' + ' '.repeat(100), `[1${' '.repeat(100)}]`, `{"b":[${' '.repeat(70)}],${' '.repeat(70)}"a"${' '.repeat(70)}:${' '.repeat(70)}"x"${' '.repeat(70)}}`,
];

function write(input) {
  if (/[\t\n]/.test(input)) throw new Error('an input must be one line without tabs');
  console.log(input + '\t' + JSON.stringify(sortKeys(JSON.parse(input))));
}

for (const input of CHOSEN) write(input);
if (count.startsWith('numbers:')) {
  for (let n = Number(count.slice(8)); n > 0; n--) write('[' + Array.from({ length: 100 }, spellNumber).join() + ']');
} else {
  for (let n = Number(count); n > 0; n--) { compact = below(2) === 0; write(spellValue(0)); }
}
