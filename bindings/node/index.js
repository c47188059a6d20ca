'use strict';
// libseen for Node.js: see index.d.ts. The native part is built by node-gyp, or by `check`.
const path = require('node:path');

const native = load();

function load() {
  const places = [process.env.SEEN_NODE, path.join(__dirname, 'build/Release/seen.node')].filter(Boolean);
  for (const place of places) {
    try {
      return require(place);
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw new Error('seen: the native part is missing; run npm rebuild, with libseen installed');
}

const ADD = 0, CHECK = 1, REMOVE = 2;
const REPLACE = 1, IF_ABSENT = 2, READ_ONLY = 4, ALONE = 8;
const CHOICES = { kind: ['bloom', 'counting'], hash: ['xxh3', 'siphash'], whenFull: ['refuse', 'go on'] };
const SHAPE = ['capacity', 'errorRate', 'kind', 'window', 'windowSeconds', 'renew', 'bits', 'hashes', 'seed', 'hash', 'whenFull'];
const STORE = ['connectMs', 'commandMs', 'retryMs', 'ttlSeconds', 'tlsCa', 'tlsCert', 'tlsKey', 'alone'];

function optionsOf(given = {}) {
  const options = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!SHAPE.includes(name) && !STORE.includes(name)) throw new TypeError(`unknown option: ${name}`);
    if (name in CHOICES) {
      options[name] = CHOICES[name].indexOf(value);
      if (options[name] < 0) throw new TypeError(`${name}: ${value} is not one of ${CHOICES[name].join(', ')}`);
    } else if (name === 'window') {
      options.generations = value;
    } else if (name === 'renew') {
      options.renew = value ? 1 : 0;
    } else if (name !== 'alone') {
      options[name] = value;
    }
  }
  if (given.window !== undefined || given.windowSeconds !== undefined) options.growth = 2;
  return options;
}

// The calls that open() makes, in order, until one succeeds: [flags, create].
function attempts(mode, given) {
  const share = given.alone ? ALONE : 0;
  const plain = !SHAPE.some((name) => given[name] !== undefined);
  switch (mode) {
    case 'r': return [[READ_ONLY, false]];
    case 'w': return [[share, false]];
    case 'n': return [[REPLACE | share, true]];
    case 'x': return [[share, true]];
    case 'c': return plain ? [[share, false], [share, true], [share, false]] : [[IF_ABSENT | share, true]];
    default: throw new TypeError(`mode: ${mode} is not one of r, w, c, n, x`);
  }
}

function again(error) {
  return error.code === 'ENOENT' || error.code === 'EEXIST';
}

// What the constructor takes in place of options: a set that is open.
class Opened {
  constructor(handle) { this.handle = handle; }
}
const wrap = (handle) => new SeenSet(new Opened(handle));

class SeenSet {
  #handle;
  #remote;

  constructor(options) {
    this.#handle = options instanceof Opened ? options.handle : native.start(null, optionsOf(options), 0, true);
    this.#remote = native.remote(this.#handle);
  }

  static open(where, mode = 'c', given = {}) {
    if (/^rediss?(-cluster|\+unix)?:\/\//.test(where)) {
      throw new Error('Redis blocks the event loop: use SeenSet.openAsync');
    }
    const tries = attempts(mode, given), options = optionsOf(given);
    for (let i = 0; ; i++) {
      try {
        return wrap(native.start(String(where), options, ...tries[i]));
      } catch (error) {
        if (!again(error) || i + 1 === tries.length) throw error;
      }
    }
  }

  static async openAsync(where, mode = 'c', given = {}) {
    const tries = attempts(mode, given), options = optionsOf(given);
    for (let i = 0; ; i++) {
      try {
        return wrap(await native.startAsync(String(where), options, ...tries[i]));
      } catch (error) {
        if (!again(error) || i + 1 === tries.length) throw error;
      }
    }
  }

  #local() {
    if (this.#remote) throw new Error('Redis blocks the event loop: use the calls that end in Async');
    return this.#handle;
  }

  add(key) { return native.one(this.#local(), key, ADD); }
  has(key) { return native.one(this.#local(), key, CHECK); }
  delete(key) { return native.one(this.#local(), key, REMOVE); }
  addMany(keys) { return native.many(this.#local(), keys, ADD); }
  hasMany(keys) { return native.many(this.#local(), keys, CHECK); }
  addLines(lines) { return native.many(this.#local(), lines, ADD); }
  async addAsync(key) { return (await native.manyAsync(this.#handle, [key], ADD))[0] === 1; }
  async hasAsync(key) { return (await native.manyAsync(this.#handle, [key], CHECK))[0] === 1; }
  async addManyAsync(keys) { return native.manyAsync(this.#handle, keys, ADD); }
  async hasManyAsync(keys) { return native.manyAsync(this.#handle, keys, CHECK); }
  async sync() { return native.syncAsync(this.#handle); }
  merge(from) { native.merge(this.#handle, from.#handle); return this; }
  like() { return wrap(native.like(this.#handle)); }
  rotate() { native.rotate(this.#handle); }
  info() { return native.info(this.#handle); }
  get where() { return native.where(this.#handle); }
  toBuffer() { return native.save(this.#handle); }
  static fromBuffer(data) { return wrap(native.load(data)); }
  close() { native.close(this.#handle); }
}
if (Symbol.dispose) SeenSet.prototype[Symbol.dispose] = SeenSet.prototype.close;

module.exports = {
  SeenSet,
  plan: (parameters) => native.plan(parameters),
  drop: (where) => native.drop(String(where)),
  canonicalUrl: (url, base) => native.canonicalUrl(url, base),
};
