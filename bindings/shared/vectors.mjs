// Plays the table of test vectors: node vectors.mjs TABLE FOLDER. See README.md.
import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { SeenSet } from 'seen';

let set;
for (const line of fs.readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean)) {
  const [what, ...words] = line.split(' ');
  if (what === 'set') {
    const [name, capacity, rate, kind, hash, low, high] = words;
    set = SeenSet.open(path.join(process.argv[3], name + '.seen'), 'x', {
      capacity: Number(capacity), errorRate: Number(rate), kind, hash, seed: BigInt(low) | (BigInt(high) << 64n),
    });
  } else {
    const key = Buffer.from(words[0], 'hex');
    assert.strictEqual(what === 'add' ? set.add(key) : set.has(key), words[1] === '1', line);
  }
}
