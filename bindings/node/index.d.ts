/** A string is its UTF-8 bytes (a lone surrogate becomes U+FFFD). */
export type Key = string | Uint8Array;
/** r: read only; w: must exist; c: create if missing; n: create, replacing; x: create, must not exist */
export type Mode = 'r' | 'w' | 'c' | 'n' | 'x';

export interface Options {
  capacity?: number; // without it the set grows
  errorRate?: number; // 0.01
  kind?: 'bloom' | 'counting';
  window?: number; // generations
  windowSeconds?: number;
  renew?: boolean; // window: every addition of a key renews it
  bits?: number;
  hashes?: number;
  seed?: bigint;
  hash?: 'xxh3' | 'siphash';
  whenFull?: 'refuse' | 'go on';
  alone?: boolean; // file: no other process writes; saves a lock per call
  connectMs?: number;
  commandMs?: number;
  retryMs?: number;
  ttlSeconds?: number;
  tlsCa?: string;
  tlsCert?: string;
  tlsKey?: string;
}

export interface Info {
  kind: string; growth: string; store: string; capacity: number; errorRate: number; bytes: number;
  hashes: number; layers: number; fill: number; keysEstimated: number; errorRateNow: number; seed: bigint;
}

export interface Plan {
  capacity: number; errorRate: number; predictedRate: number; bits: number; bytes: number; hashes: number;
}

/** Errors have `code` (ENOENT, EEXIST, EACCES, ERR_SEEN_FULL, ...) and `status` (seen.h). */
export class SeenSet {
  /** A set in memory. */
  constructor(options?: Options);
  static open(where: string, mode?: Mode, options?: Options): SeenSet;
  /** For Redis: all calls of such a set are those that end in Async. */
  static openAsync(where: string, mode?: Mode, options?: Options): Promise<SeenSet>;
  /** True if the key is new; exactly one caller gets true, also between processes. */
  add(key: Key): boolean;
  has(key: Key): boolean;
  /** Counting sets: true if the key was present. */
  delete(key: Key): boolean;
  /** A byte for each key: 1 if new, 0 if present. */
  addMany(keys: readonly Key[]): Uint8Array;
  /** A byte for each key: 1 if present, 0 if absent. */
  hasMany(keys: readonly Key[]): Uint8Array;
  /** Keys separated by newlines: the fast path. */
  addLines(lines: Uint8Array): Uint8Array;
  addAsync(key: Key): Promise<boolean>;
  hasAsync(key: Key): Promise<boolean>;
  addManyAsync(keys: readonly Key[] | Uint8Array): Promise<Uint8Array>;
  hasManyAsync(keys: readonly Key[] | Uint8Array): Promise<Uint8Array>;
  /** Makes durable what was added. */
  sync(): Promise<void>;
  merge(from: SeenSet): this;
  /** An empty set in memory with the same parameters and seed. */
  like(): SeenSet;
  rotate(): void;
  /** Reads every bit. */
  info(): Info;
  readonly where: string | null;
  /** The bytes of its file. */
  toBuffer(): Buffer;
  static fromBuffer(data: Uint8Array): SeenSet;
  /** Without waiting for the disk: call sync() first. */
  close(): void;
}

export function plan(parameters: { capacity?: number; errorRate?: number; bits?: number; hashes?: number }): Plan;
export function drop(where: string): void;
/** null if it is not an http or https URL. */
export function canonicalUrl(url: string, base?: string): string | null;
