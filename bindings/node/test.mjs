// node --test
import assert from 'node:assert';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';
import test from 'node:test';
import { Worker } from 'node:worker_threads';
import { SeenSet, plan, drop, canonicalUrl } from './index.mjs';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'seen-node-'));
process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }));
const at = (name) => path.join(dir, name);
const keysOf = (n, prefix = 'k') => Array.from({ length: n }, (_, i) => prefix + i);
const sum = (bytes) => bytes.reduce((a, b) => a + b, 0);

test('one key', () => {
  const set = new SeenSet({ capacity: 100 });
  assert.strictEqual(set.add('é'), true);
  assert.strictEqual(set.add(Buffer.from('é')), false);
  assert.strictEqual(set.has(new Uint8Array([0xc3, 0xa9])), true);
  assert.strictEqual(set.add(''), true);
  assert.strictEqual(set.has(new Uint8Array()), true);
  for (const length of [2040, 2043, 2044, 2045, 2047, 2048, 2049, 100000]) {
    assert.strictEqual(set.add('x'.repeat(length)), true);
    assert.strictEqual(set.has(Buffer.alloc(length, 'x')), true);
    assert.strictEqual(set.add('y'.repeat(length) + '\u{1f600}'), true);
    assert.strictEqual(set.has(Buffer.from('y'.repeat(length) + '\u{1f600}')), true);
  }
  for (const bad of [1, null, undefined, {}, ['a']]) assert.throws(() => set.add(bad), /encode/);
  assert.strictEqual(set.where, null);
});

test('CommonJS is the same module', () => {
  assert.strictEqual(createRequire(import.meta.url)('./index.js').SeenSet, SeenSet);
});

test('batches are like one by one', () => {
  const one = new SeenSet({ capacity: 10000, seed: 7n }), many = new SeenSet({ capacity: 10000, seed: 7n });
  const lines = new SeenSet({ capacity: 10000, seed: 7n });
  const keys = [...keysOf(3000), ...keysOf(2000)];
  const expected = Uint8Array.from(keys, (key) => (one.add(key) ? 1 : 0));
  assert.deepStrictEqual(many.addMany(keys), expected);
  assert.deepStrictEqual(lines.addLines(Buffer.from(keys.join('\n') + '\n')), expected);
  assert.ok(one.toBuffer().equals(many.toBuffer()) && one.toBuffer().equals(lines.toBuffer()));
  assert.strictEqual(sum(many.hasMany(keys)), keys.length);
  assert.strictEqual(many.addMany([]).length, 0);
  assert.throws(() => many.addMany(['a', 1]), TypeError);
  assert.throws(() => many.addMany('abc'), TypeError);
});

test('files and errors', () => {
  const file = at('f.seen');
  assert.throws(() => SeenSet.open(file, 'r'), { code: 'ENOENT', status: 6 });
  const set = SeenSet.open(file, 'c', { capacity: 100 });
  assert.strictEqual(set.where, file);
  assert.throws(() => SeenSet.open(file, 'x'), { code: 'EEXIST' });
  assert.throws(() => SeenSet.open(file, 'c', { capacity: 7 }), { code: 'ERR_SEEN_MISMATCH' });
  assert.throws(() => SeenSet.open(file, 'r').add('x'), { code: 'EACCES' });
  assert.throws(() => set.addMany(keysOf(5000)), { code: 'ERR_SEEN_FULL', status: 8 });
  assert.throws(() => set.delete('a'), { code: 'ERR_SEEN_KIND' });
  assert.throws(() => new SeenSet({ capcity: 1 }), /unknown option/);
  assert.throws(() => new SeenSet({ capacity: -1 }), TypeError);
  assert.throws(() => new SeenSet({ errorRate: 3 }), { code: 'ERR_SEEN_ARGUMENT' });
  assert.throws(() => SeenSet.fromBuffer(Buffer.from('no')), { code: 'ERR_SEEN_FORMAT' });
  assert.strictEqual(SeenSet.open(file).info().capacity, 100);
  assert.throws(() => SeenSet.open('redis://localhost/x'), /openAsync/);
  set.close();
  set.close();
  assert.throws(() => set.add('x'), /closed/);
  drop(file);
  assert.ok(!fs.existsSync(file));
});

test('whole sets', async () => {
  const a = new SeenSet({ capacity: 1000 });
  a.add('a');
  const b = a.like();
  b.add('b');
  assert.ok(a.merge(b).has('b') && !b.has('a'));
  const copy = SeenSet.fromBuffer(a.toBuffer());
  assert.ok(copy.has('a') && copy.has('b') && Math.round(copy.info().keysEstimated) === 2);
  await a.sync();
  const counting = new SeenSet({ capacity: 100, kind: 'counting' });
  counting.add('a');
  assert.ok(counting.delete('a') && !counting.delete('a'));
  const window = new SeenSet({ capacity: 100, window: 4 });
  window.add('a');
  for (let i = 0; i < 4; i++) window.rotate();
  assert.ok(!window.has('a'));
  assert.ok(plan({ capacity: 1e6, errorRate: 0.01 }).predictedRate <= 0.01);
  assert.strictEqual(canonicalUrl('HTTP://A.b/./x#y'), 'http://a.b/x');
  assert.strictEqual(canonicalUrl('../x', 'http://a/b/c/d'), 'http://a/b/x');
  assert.strictEqual(canonicalUrl('mailto:x'), null);
});

test('async calls, closing meanwhile', async () => {
  const set = new SeenSet({ errorRate: 1e-9 });
  const keys = keysOf(20000);
  const results = await Promise.all([set.addManyAsync(keys), set.addManyAsync(keys), set.addManyAsync(keys)]);
  assert.strictEqual(results.reduce((total, bytes) => total + sum(bytes), 0), keys.length);
  assert.strictEqual(await set.hasAsync('k1'), true);
  assert.strictEqual(await set.addAsync('k1'), false);
  const last = set.addManyAsync(keysOf(20000, 'other'));
  set.close();
  assert.strictEqual(sum(await last), 20000);
  await assert.rejects(set.addAsync('x'), /closed/);
});

test('worker threads have one winner', async () => {
  const file = at('workers.seen');
  SeenSet.open(file, 'n', { errorRate: 1e-9 }).close();
  const code = `import { SeenSet } from ${JSON.stringify(new URL('./index.mjs', import.meta.url).href)};
    import { parentPort } from 'node:worker_threads';
    const set = SeenSet.open(${JSON.stringify(file)}, 'w');
    let wins = 0;
    for (let i = 0; i < 5000; i++) wins += set.add('k' + i);
    parentPort.postMessage(wins);`;
  const url = new URL('data:text/javascript,' + encodeURIComponent(code));
  const wins = await Promise.all([1, 2, 3].map(() => new Promise((resolve, reject) => {
    const worker = new Worker(url);
    worker.on('message', resolve);
    worker.on('error', reject);
  })));
  assert.strictEqual(wins.reduce((a, b) => a + b), 5000);
});

test('Redis', { skip: spawnSync('redis-server', ['--version']).error ? 'no redis-server' : false }, async () => {
  const socket = at('redis.sock');
  const server = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', dir], { stdio: 'ignore' });
  try {
    while (!fs.existsSync(socket)) await new Promise((resolve) => setTimeout(resolve, 20));
    const where = `redis+unix://${socket}/visited`;
    const [a, b] = await Promise.all([1, 2].map(() => SeenSet.openAsync(where, 'c', { capacity: 100000, errorRate: 1e-9 })));
    assert.throws(() => a.add('x'), /Async/);
    const keys = keysOf(2000);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const [x, y] = await Promise.all([a.addManyAsync(keys), b.addManyAsync(keys)]);
    clearInterval(timer);
    assert.ok(ticks > 0, 'the event loop stood still');
    assert.strictEqual(sum(x) + sum(y), keys.length);
    assert.strictEqual(await a.hasAsync('k7'), true);
    a.close();
    b.close();
  } finally {
    server.kill();
  }
});

test('memory stays flat', () => {
  const set = new SeenSet({ capacity: 1000, whenFull: 'go on' });
  const keys = keysOf(1000);
  const round = () => {
    for (let i = 0; i < 20000; i++) set.add('key' + (i & 1023));
    set.addMany(keys);
    try { set.add(1); } catch { /* expected */ }
    new SeenSet({ capacity: 1000 }).close();
  };
  for (let i = 0; i < 20; i++) round();
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 40; i++) round();
  assert.ok(process.memoryUsage().rss - before < 32 << 20);
});
