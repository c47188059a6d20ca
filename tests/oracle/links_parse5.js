// Compares the links of random pages with those that parse5 finds:
//     node links_parse5.js PROGRAM [CASES [SEED]]        PROGRAM: links_dump
// Half of the pages are about tags, attributes, comments and raw text, half about svg and math. Constructs that need a
// full tree builder are not generated (see crawl/html/foreign.c): <select>, <frameset>, <template>, tables, elements
// that close without an end tag, a formatting element with a block between it and <svg>, <font>.
// Exit status: 0 they agree, 1 they differ, 77 parse5 is not installed.
'use strict';
const { spawnSync } = require('child_process');
// Debian's packages are in a folder that only Debian's own node searches.
process.env.NODE_PATH = [process.env.NODE_PATH, '/usr/share/nodejs'].filter(Boolean).join(':');
require('module').Module._initPaths();
let parse5;
try { parse5 = require('parse5'); } catch (error) { /* it is not installed */ }
if (!parse5) { console.log('skipped: parse5 is not installed: tools/deps test'); process.exit(77); }

const [program, cases = '100000', seedText = '1'] = process.argv.slice(2);
let seed = BigInt(seedText);
function dice(sides) {
    seed = (seed * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    return Number((seed >> 33n) % BigInt(sides));
}
const pick = (list) => list[dice(list.length)];

const plain = ['<a href=', '<a ', ' href', '=', '"', "'", '>', '/', ' ', '\r\n', '\r', '&amp;', '&amp', '&#x41', '&#', '&not',
    '&notin;', '&copy', '&#128;', '&lt', ';', '-', '->', '<!--', '-->', '--!>', '<!-->', '<script>', '<script', '</script',
    '</script>', '<style>', '</style>', '</style ', '<title>', '</title>', '</title/', '<textarea>', '</textarea>', '<xmp>',
    '</xmp>', '<!', '<?', '</', '<', '<!doctype', 'x', 'href', '<area href=', "<iframe src='y'>", '</iframe>',
    '<p>', '</p>', '<b>', '<noembed>', '</noembed>', '\t', "<a href='", '<a href="', "'>", '">', 'é', '&AElig', '&ngE;',
    '<base href=z>', '<link rel=next href=n>', '<A HREF=Q>', '<![CDATA[', ']]>'];
const foreign = ['<svg>', '<svg>', '</svg>', '</svg>', '<math>', '</math>', '<svg/>', '<g>', '</g>', '<path d=x />', '<title>',
    '</title>', '<desc>', '</desc>', '<foreignObject>', '</foreignObject>', '<mi>', '</mi>', '<mtext>', '</mtext>',
    '<annotation-xml encoding="text/html">', '<annotation-xml>', '</annotation-xml>', '<style>', '</style>', '<script>',
    '</script>', '<![CDATA[', ']]>', '<b></b>', '</b>', '<span></span>', '</span>', '</i>', '<tr>', '</tr>', '</br>', '<img>',
    '<area href=r>', '<textarea>', '</textarea>', '<use xlink:href=u />', '</use>', '</a>', '</sub>', '<sup></sup>', '</sup>', '</div>',
    'text', '<!-- c -->'];
// After the start tag of one of these.
const within = ['</b>', '<b></b>', '</span>', '<tr>', '</tr>', '<img>', '<area href=q>', '<svg></svg>', '<svg><g><area href=s></svg>',
    '<style><area href=t></style>', '<title><area href=v></title>', '</svg>', '</math>', 'text', '</g>'];
let next = 0;
function make() {
    let page = '<!doctype html><body>';
    if (dice(2) === 0) {
        for (let n = dice(40); n > 0; n--) page += pick(plain);
        return page;
    }
    // A second <a> closes the first with everything open within it. HTML within <desc> and the like is closed at once:
    // parse5 7 takes an end tag there for that of the svg element, where the standard requires an HTML element.
    const open = dice(4) === 0, ends = { '<a href=l': '></a>', '<a xlink:href=x': '></a>', '<area href=m': '>' };
    page += open ? '<a href=o>' : pick(['', '', '<span>', '<sup>', '<div>', '<b>', '<i>']);
    for (let n = dice(14), point = null; n > 0; n--) {
        if (point) {
            const close = dice(3) === 0;
            page += close ? `</${point}>` : pick(within);
            if (close) point = null;
            continue;
        }
        const link = open ? '<area href=m' : pick(Object.keys(ends));
        const piece = dice(3) === 0 ? link + next++ + ends[link] : pick(foreign);
        point = /^<(title|desc|foreignObject|mi|mtext|annotation-xml)/.exec(piece)?.[1];
        page += piece;
    }
    return page;
}

const XLINK = 'http://www.w3.org/1999/xlink', HTML = 'http://www.w3.org/1999/xhtml';
function links(page) {
    const found = new Set();
    let base = false;
    (function walk(node) {
        const get = (name) => node.attrs.find((a) => (a.namespace === XLINK ? 'xlink:' : '') + a.name === name)?.value;
        if (node.tagName !== undefined) {
            const html = node.namespaceURI === HTML, add = (kind, value) => value !== undefined && found.add(kind + '\t' + value);
            const href = get('href');
            if (node.tagName === 'a') add('a', html || href !== undefined ? href : get('xlink:href'));
            if (html && node.tagName === 'area') add('area', href);
            if (html && node.tagName === 'link' && /(^|[ \t\r\n\f])next($|[ \t\r\n\f])/i.test(get('rel') ?? '')) add('next', href);
            if (html && /^i?frame$/.test(node.tagName)) add('frame', get('src'));
            if (html && node.tagName === 'base' && href !== undefined && !base) { base = true; add('base', href); }
        }
        for (const child of node.childNodes ?? []) walk(child);
    })(parse5.parse(page));
    return [...found].map((line) => line.replace(/\\/g, '\\\\').replace(/\t/g, '\\t').replace('\\t', '\t').replace(/\n/g, '\\n').replace(/\r/g, '\\r'));
}

const pages = Array.from({ length: Number(cases) }, make);
const input = Buffer.concat(pages.flatMap((page) => {
    const bytes = Buffer.from(page);
    return [Buffer.from(bytes.length + '\n'), bytes];
}));
const run = spawnSync(program, { input, maxBuffer: 1 << 30 });
if (run.status !== 0) { console.error(`${program} failed: ${run.status} ${run.signal}`); process.exit(1); }
const ours = run.stdout.toString().split('\n');
let at = 0, wrong = 0, total = 0;
for (const page of pages) {
    const mine = new Set();
    for (; ours[at] !== ''; at++) mine.add(ours[at]);
    at++;
    const theirs = links(page);
    total += mine.size;
    if (theirs.length === mine.size && theirs.every((line) => mine.has(line))) continue;
    if (++wrong <= 10) console.error(`differ: ${JSON.stringify(page)}\n  ours   ${JSON.stringify([...mine])}\n  parse5 ${JSON.stringify(theirs)}`);
}
console.log(`${pages.length} pages, ${total} links, ${wrong} differ`);
process.exit(wrong > 0 ? 1 : 0);
