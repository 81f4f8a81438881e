#!/usr/bin/env node
// Stands in for mocha or jest, by the name that it is started under: their settings files, the way
// they choose and name tests, and the reports they write. Nothing is fetched for a test.
const fs = require('fs'), path = require('path');
const root = process.cwd(), mocha = path.basename(process.argv[1]) === 'mocha';
const json = (name) => (fs.existsSync(name) ? JSON.parse(fs.readFileSync(name, 'utf8')) : {});
const settings = { ...(json('package.json')[mocha ? 'mocha' : 'jest'] || {}) };
if (mocha) {
  Object.assign(settings, json('.mocharc.json'));
  if (fs.existsSync('.mocharc.js')) Object.assign(settings, require(path.resolve('.mocharc.js')));
  if (fs.existsSync('.mocharc.yml'))
    for (const line of fs.readFileSync('.mocharc.yml', 'utf8').split('\n')) {
      const [key, value] = line.split(': ');
      if (value) settings[key.trim()] = value.trim();
    }
} else if (fs.existsSync('jest.config.js')) Object.assign(settings, require(path.resolve('jest.config.js')));

const given = { require: [] }, places = [];
for (let args = process.argv.slice(2), n = 0; n < args.length; n++) {
  const [name, value] = args[n].split(/=(.*)/s);
  if (name === '--require') given.require.push(value || args[++n]);
  else if (name === '--reporter-option') given.output = value.replace('output=', '');
  else if (name === '--outputFile') given.output = value;
  else if (name === '--grep' || name === '--testNamePattern') given.grep = value;
  else if (!name.startsWith('-')) places.push(args[n]);
}
const grep = new RegExp(given.grep || settings.grep || settings.testNamePattern || '');
const walk = (at) => (fs.existsSync(at) && fs.statSync(at).isDirectory()
  ? fs.readdirSync(at).filter((each) => each !== 'node_modules' && !each.startsWith('.')).flatMap((each) => walk(path.join(at, each)))
  : [at]);
let files;
if (mocha) files = (places.length ? places : [settings.spec || 'test']).flatMap(walk).filter((f) => /\.c?js$/.test(f) && !/support/.test(f));
else {
  const every = walk('.').filter((f) => /\.test\.js$|__tests__/.test(f));
  const ignored = (settings.testPathIgnorePatterns || []).map((each) => new RegExp(each));
  files = every.filter((f) => !ignored.some((each) => each.test(f)) && (!places.length || places.some((p) => f.includes(p.replace('./', '')))));
}

const tests = [], names = [], before = [];
let current = '';
const add = (mode) => (title, run) => tests.push({ fullTitle: [...names, title].join(' '), title, run, mode, file: path.resolve(current), before: [...before] });
const it = Object.assign(add(''), { only: add('only'), skip: add('skip') });
const describe = Object.assign((title, body) => { names.push(title); body(); names.pop(); }, { skip() {} });
const expect = (found) => ({
  toBe(wanted) { if (found !== wanted) throw new Error(`expect(received).toBe(expected)\nExpected: ${wanted}\nReceived: ${found}`); },
  toMatchSnapshot(name) {
    const kept = require(path.join(path.dirname(current), '__snapshots__', path.basename(current) + '.snap'));
    if (kept[name] !== String(found)) throw new Error(`snapshot ${name}: ${found} is not ${kept[name]}`);
  },
});
Object.assign(global, { describe, it, test: it, expect, beforeEach: (run) => before.push(run) });

(async () => {
  for (const each of [...given.require, ...(settings.require ? [settings.require] : []), ...(settings.setupFiles || [])]) require(path.resolve(each));
  const broken = [];
  for (current of files.map((f) => path.resolve(f))) {
    before.length = 0;
    try { require(current); } catch (err) { broken.push({ fullTitle: 'load', title: 'load', file: current, err: { message: err.message, stack: err.stack } }); }
  }
  const only = tests.some((each) => each.mode === 'only');
  const ends = { passes: [], failures: broken, pending: [] };
  for (const each of tests) {
    if (only && each.mode !== 'only') { if (!mocha) ends.pending.push(each); continue; }
    if (!grep.test(each.fullTitle)) { if (!mocha) ends.pending.push(each); continue; }
    if (each.mode === 'skip') { ends.pending.push(each); continue; }
    try { for (const run of each.before) await run(); await each.run(); ends.passes.push(each); } catch (err) {
      each.err = { message: err.message, stack: err.stack };
      ends.failures.push(each);
    }
  }
  const all = Object.values(ends).flat();
  const jest = { numTotalTests: all.length, testResults: [...new Set(all.map((each) => each.file))].map((name) => ({
    name, status: ends.failures.some((each) => each.file === name) ? 'failed' : 'passed',
    assertionResults: all.filter((each) => each.file === name).map((each) => ({
      fullName: each.fullTitle, title: each.title, failureMessages: each.err ? [each.err.stack] : [],
      status: ends.passes.includes(each) ? 'passed' : ends.failures.includes(each) ? 'failed' : 'pending' })) })) };
  const text = JSON.stringify(mocha ? { stats: { tests: all.length }, ...ends } : jest);
  if (given.output) fs.writeFileSync(given.output, text); else console.log(text);
  process.exit(ends.failures.length ? 1 : 0);
})();
