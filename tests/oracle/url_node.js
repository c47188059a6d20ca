// Prints the canonical form of URLs with the URL parser of Node.js, a WHATWG parser.
//
// Reads lines "URL BASE" (UTF-8 in hexadecimal; "-" for an empty URL or no base, "." for an empty base) and
// prints for each the canonical URL in hexadecimal, "invalid" or "other", and the reasons for which we may
// refuse its host although Node.js does not, or "-". The additions of our form to the standard are
// implemented here a second time, on purpose.
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

// Node.js 20 leaves dot segments in some paths, such as //.a/./b; on a path without any this does nothing.
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

// The host of a URL, with its escapes decoded; empty if it has none.
function hostOf(text) {
  const [, authority] = /^(?:https?:\/*|\/\/+)([^/?#]*)/i.exec(clean(text).replace(/\\/g, '/')) ?? [];
  const host = (authority ?? '').replace(/^.*@/s, '').replace(/:[0-9]*$/, '');
  return Buffer.from(host.replace(/%([0-9a-f]{2})/gi, (all, digits) => '\0' + digits))
    .toString('latin1').replace(/\0(..)/gs, (all, digits) => String.fromCharCode(parseInt(digits, 16)));
}

// Right-to-left letters, as far as the tests use them, and numbers of the class AN.
const RIGHT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const ARABIC_NUMBER = /[\u0600-\u0605\u0660-\u0669\u066b\u066c\u06dd\u08e2]/;

// Of the Bidi rule (RFC 5893) Node.js 20 checks neither the first nor the last character.
function breaksDirection(label) {
  const points = [...label.replace(/\p{M}+$/u, '')];
  if (!points.some((c) => RIGHT.test(c) || ARABIC_NUMBER.test(c))) return false;
  const first = points[0], last = points.at(-1);
  if (!/\p{L}/u.test(first)) return true;
  return !RIGHT.test(first) && !/[0-9]/.test(last) && (!/\p{L}/u.test(last) || RIGHT.test(last));
}

// Why libidn2 refuses a label that the standard accepts, or Node.js accepts one that the standard refuses.
function reasonsOf(label) {
  const mapped = label.replace(/[\u00ad\u200b\u2060\ufeff]/g, '').normalize('NFKC').toLowerCase();
  const reasons = /^xn--.*-$/.test(mapped) ? ['a-label'] : [];
  if (!/[^\0-\x7f]/.test(label)) return reasons;
  if (/[!-,/:-@[-`{-~]/.test(mapped)) reasons.push('punctuation');
  if (/^-|-$|^..--/.test(mapped)) reasons.push('hyphens');
  if (/[\p{S}\p{P}]/u.test(mapped.replace(/[\0-\x7f]/g, '')) && mapped !== label) reasons.push('symbol');
  if (/[\u1100-\u11ff]/.test(mapped) && mapped !== label) reasons.push('jamo');
  if (breaksDirection(mapped)) reasons.push('direction');
  return reasons;
}

function reasonsOfHost(text) {
  const host = Buffer.from(hostOf(text), 'latin1').toString('utf8');
  return /[^\0-\x7f]/.test(host) ? host.split(/[.\u3002\uff0e\uff61]/).flatMap(reasonsOf) : [];
}

const explain = (url, base) => [...new Set([url, base ?? ''].flatMap(reasonsOfHost))];

// Since June 2026 the standard accepts any ASCII host, also with an xn-- label that IDNA refuses; Node.js
// 20 does not. Such labels of ASCII hosts are hidden from it.
const hide = (text) => text === undefined || /[^\0-\x7f]/.test(hostOf(text)) ? text :
  text.replace(/(x)(n)(?=--)/gi, (all, x, n) => x + (n === 'n' ? 'q' : 'Q') + '0');
const show = (text) => text.replace(/(x)(q)0(?=--)/gi, (all, x, q) => x + (q === 'q' ? 'n' : 'N'));

function parse(text, base) {
  for (const [url, from] of [[text, base], [text, hide(base)]]) {
    try {
      const { href, protocol, search } = new URL(url, from);
      return { href: show(href), protocol, search: show(search) };
    } catch {
      continue; // an xn-- label may be the reason
    }
  }
  const { href, protocol, search } = new URL(hide(text), hide(base));
  return { href: show(href), protocol, search: show(search) };
}

function canonical(text, base) {
  const scheme = schemeOf(text);
  if (scheme === 'other') return 'other';
  if (base !== undefined && schemeOf(base) === 'other') {
    if (scheme === 'none') return 'other';
    base = undefined;
  }
  // A base is not used if it is not needed, so it may be invalid.
  if (/^https?:\/\//i.test(clean(text))) base = undefined;
  let url;
  try {
    url = parse(text, base);
    // If only the fragment changes, the query stays, even an empty one; Node.js 20 loses that.
    if (base !== undefined && /^(https?:)?(#|$)/i.test(clean(text)) &&
        parse(base).protocol === url.protocol && url.search === '') url = parse(base);
  } catch {
    return 'invalid';
  }
  const [, start, user, host, path, query] =
    /^(https?:\/\/)([^/]*@)?([^/]*)(\/[^?]*)(\?.*)?$/.exec(url.href.replace(/#.*$/s, ''));
  // The standard escapes ^ in a path; older versions of Node.js do not.
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
  const sample = [url === '-' ? '' : decode(url), base === '-' ? undefined : base === '.' ? '' : decode(base)];
  answers.push(canonical(...sample) + ' ' + (explain(...sample).join() || '-'));
}
process.stdout.write(answers.join('\n') + '\n');
