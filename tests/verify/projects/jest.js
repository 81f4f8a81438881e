#!/usr/bin/env node
// Stands in for jest: its settings, the way it chooses and names tests, the report it writes.
const fs = require('fs'), path = require('path');
const json = (name) => (fs.existsSync(name) ? JSON.parse(fs.readFileSync(name, 'utf8')) : {});
const settings = { ...json('package.json').jest };
if (fs.existsSync('jest.config.js')) Object.assign(settings, require(path.resolve('jest.config.js')));

const given = {}, places = [];
for (const word of process.argv.slice(2)) {
  const [name, value] = word.split(/=(.*)/s);
  if (name.startsWith('--')) given[name.slice(2)] = value;
  else places.push(word.replace('./', ''));
}
const pattern = new RegExp(given.testNamePattern || settings.testNamePattern || '');
const ignored = (settings.testPathIgnorePatterns || []).map((each) => new RegExp(each));
const walk = (at) => (fs.statSync(at).isDirectory()
  ? fs.readdirSync(at).filter((each) => each !== 'node_modules' && !each.startsWith('.'))
    .flatMap((each) => walk(path.join(at, each)))
  : [at]);
const files = walk('.').filter((file) => /\.test\.js$|__tests__/.test(file)
  && !ignored.some((each) => each.test(file))
  && (!places.length || places.some((place) => file.includes(place))));

const tests = [];
let file = '';
const add = (mode) => (title, run) => tests.push({ title, run, mode, file, status: 'pending' });
const test = Object.assign(add(''), { only: add('only'), skip: add('skip') });
const expect = (found) => ({
  toBe(wanted) {
    if (found !== wanted) throw new Error(`expect(received).toBe(expected)\nReceived: ${found}`);
  },
  toMatchSnapshot(name) {
    const { file: own, title } = tests.find((each) => each.status === 'runs');
    const kept = require(path.join(path.dirname(own), '__snapshots__', `${path.basename(own)}.snap`));
    if (kept[`${title}: ${name} 1`] !== String(found)) throw new Error(`snapshot ${name}: ${found}`);
  },
});
Object.assign(global, { test, it: test, expect });
require.extensions['.snap'] = require.extensions['.js'];

(async () => {
  for (const each of settings.setupFiles || []) require(path.resolve(each));
  for (file of files.map((each) => path.resolve(each))) {
    try { require(file); } catch (error) { tests.push({ title: 'load', file, run() { throw error; } }); }
  }
  const alone = (each) => tests.some((other) => other.file === each.file && other.mode === 'only');
  for (const each of tests) {
    if (each.mode === 'skip' || !pattern.test(each.title) || (alone(each) && each.mode !== 'only')) continue;
    each.status = 'runs';
    try { await each.run(); each.status = 'passed'; } catch (error) { Object.assign(each, { status: 'failed', error }); }
  }
  const testResults = [...new Set(tests.map((each) => each.file))].map((name) => {
    const own = tests.filter((each) => each.file === name);
    const assertionResults = own.map(({ title, status, error }) => (
      { fullName: title, title, status, failureMessages: error ? [error.stack] : [] }));
    return { name, status: own.some((each) => each.error) ? 'failed' : 'passed', assertionResults };
  });
  fs.writeFileSync(given.outputFile, JSON.stringify({ numTotalTests: tests.length, testResults }));
  process.exit(tests.some((each) => each.error) ? 1 : 0);
})();
