// DuckDB on the files of bench/stream.py and bench/sets.py, with its best settings for them.
//
//     node bench/duckdb.mjs FOLDER distinct THREADS IN OUT
//     node bench/duckdb.mjs FOLDER semijoin THREADS A B OUT
//     node bench/duckdb.mjs FOLDER version
//
// FOLDER has node_modules with @duckdb/node-api (tools/duckdb puts it there). The input is read as one text column: no
// header, no quotes, a separator that does not occur, no detection. Order need not be kept, which is faster; seen keeps
// it. The temporary folder is beside the output, the memory limit is DuckDB's own default.
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

const [folder, job, threads, ...files] = process.argv.slice(2);
const { DuckDBInstance, version } = createRequire(join(resolve(folder), "x.js"))("@duckdb/node-api");
if (job === "version") {
  console.log(version());
  process.exit(0);
}
const out = files.pop();
const text = name => "'" + name.replaceAll("'", "''") + "'";
const lines = name => `read_csv(${text(name)}, header=false, auto_detect=false, delim='\\x01', quote='', escape='',
  columns={'line': 'VARCHAR'}, max_line_size=1048576)`;
const query = job === "distinct" ? `SELECT DISTINCT line FROM ${lines(files[0])}`
  : `SELECT line FROM ${lines(files[0])} a SEMI JOIN ${lines(files[1])} b USING (line)`;

const instance = await DuckDBInstance.create(":memory:");
const connection = await instance.connect();
await connection.run(`SET threads=${Number(threads)}`);
await connection.run("SET preserve_insertion_order=false");
await connection.run(`SET temp_directory=${text(join(dirname(out === "/dev/null" ? files[0] : out), "duckdb.tmp"))}`);
await connection.run(`COPY (${query}) TO ${text(out)} (FORMAT csv, HEADER false, QUOTE '', DELIMITER '\\x01')`);
