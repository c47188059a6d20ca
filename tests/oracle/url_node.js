// What the URL parser of Node.js, a WHATWG one, makes of URLs, in our canonical form.
//
// Reads lines "URL BASE" (UTF-8 in hexadecimal; "-" for an empty URL or no base, "." for an empty
// base) and answers each with the canonical URL in hexadecimal, "invalid" or "other". What our form
// adds to the standard is written here a second time, on purpose.
'use strict';

const HEX = /^[0-9a-f]{2}/i;
const UNRESERVED = /[A-Za-z0-9._~-]/;

// Upper-case escapes; unreserved characters unescaped, unless that would complete a bare %.
function normalise(text) {
  let out = '';
  for (let i = 0; i < text.length; i++) {
    const digits = text.substr(i + 1, 2);
    if (text[i] !== '%' || !HEX.test(digits)) {
      out += text[i];
      continue;
    }
    const char = String.fromCharCode(parseInt(digits, 16));
    const completes = /[0-9a-f]/i.test(char) && /%[0-9a-f]?$/i.test(out.slice(-2));
    out += UNRESERVED.test(char) && !completes ? char : '%' + digits.toUpperCase();
    i += 2;
  }
  return out;
}

// Node.js 20 leaves dot segments in some paths, such as //.a/./b; on a path without any this does
// nothing.
function removeDots(path) {
  const segments = path.split('/').slice(1);
  const kept = [];
  segments.forEach((segment, i) => {
    const dots = segment.replace(/%2e/gi, '.');
    if (dots === '..') kept.pop();
    if (dots !== '.' && dots !== '..') kept.push(segment);
    else if (i === segments.length - 1) kept.push('');
  });
  return '/' + kept.join('/');
}

const clean = (text) => text.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '').replace(/[\t\n\r]/g, '');

function schemeOf(text) {
  const match = /^([a-z][a-z0-9+.-]*):/i.exec(clean(text));
  if (!match) return 'none';
  return /^https?$/i.test(match[1]) ? 'http' : 'other';
}

// Since June 2026 the standard accepts any ASCII host, also with an xn-- label that IDNA refuses; Node.js
// 20 does not. Such labels are hidden from it, unless IDNA has other work in that host.
const hide = (text) => text === undefined ? undefined :
  text.replace(/(x)(n)(?=--)/gi, (all, x, n) => x + (n === 'n' ? 'q' : 'Q') + '0');
const show = (text) => text.replace(/(x)(q)0(?=--)/gi, (all, x, q) => x + (q === 'q' ? 'n' : 'N'));

function parse(text, base) {
  try {
    return new URL(text, base);
  } catch (error) {
    const url = new URL(hide(text), hide(base));
    if (/(^|\.)xn--/.test(url.hostname)) throw error;
    return { href: show(url.href), protocol: url.protocol, search: show(url.search) };
  }
}

function canonical(text, base) {
  const scheme = schemeOf(text);
  if (scheme === 'other') return 'other';
  if (base !== undefined && schemeOf(base) === 'other') {
    if (scheme === 'none') return 'other';
    base = undefined;
  }
  // A base is not looked at where it is not needed, so it may be a bad one.
  if (/^https?:\/\//i.test(clean(text))) base = undefined;
  let url;
  try {
    url = parse(text, base);
    // Where only the fragment changes the query stays, also an empty one; Node.js 20 loses that.
    if (base !== undefined && /^(https?:)?(#|$)/i.test(clean(text)) &&
        parse(base).protocol === url.protocol && url.search === '') url = parse(base);
  } catch {
    return 'invalid';
  }
  const [, start, user, host, path, query] =
    /^(https?:\/\/)([^/]*@)?([^/]*)(\/[^?]*)(\?.*)?$/.exec(url.href.replace(/#.*$/s, ''));
  // The standard escapes ^ in a path; versions of Node.js before that was decided do not.
  const form = start + normalise(user ?? '') + host +
    normalise(removeDots(path).replace(/\^/g, '%5E')) + normalise(query ?? '');
  return Buffer.from(form, 'latin1').toString('hex');
}

const decode = (hex) => Buffer.from(hex, 'hex').toString('utf8');
const lines = require('fs').readFileSync(0, 'latin1').split('\n');
const answers = [];
for (const line of lines) {
  if (line === '') continue;
  const [url, base] = line.split(' ');
  answers.push(canonical(url === '-' ? '' : decode(url),
    base === '-' ? undefined : base === '.' ? '' : decode(base)));
}
process.stdout.write(answers.join('\n') + '\n');
