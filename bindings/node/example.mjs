// Prints each line of its input the first time that it appears, across runs: node example.mjs FILTER < lines
import readline from 'node:readline';
import { SeenSet } from './index.mjs';

const set = SeenSet.open(process.argv[2], 'c', { errorRate: 1e-6 });
for await (const line of readline.createInterface({ input: process.stdin })) {
  if (set.add(line)) console.log(line);
}
await set.sync();
set.close();
