// Runs a ring of the tests repeatedly while a load generator competes for the processor, and reports every failure with
// its log: `node scripts/flake.js --runs 20`, `node scripts/flake.js test:all --runs 5 --shuffle`. A test that fails in
// one of the runs depends on time or chance. Table on stdout, progress on stderr; exits with 1 after a failure.
import { spawn } from 'node:child_process'
import { mkdir, open, readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'

const root = fileURLToPath(new URL('..', import.meta.url))
const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
const rings = Object.keys(scripts).filter((name) => /^test(:|$)/.test(name))

const say = (line) => process.stderr.write(`${line}\n`)
const { ring, runs, load, shuffle, folder, extra } = readFlags()
await mkdir(folder, { recursive: true })

// Threads, so that they end with this process however it ends.
for (let thread = 0; thread < load; thread += 1) new Worker('for (;;);', { eval: true }).unref()

let child
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    child?.kill('SIGTERM')
    process.exit(130)
  })
}

const rows = []
const failures = []
for (let run = 1; run <= runs; run += 1) {
  const row = await runOnce(run)
  rows.push(row)
  failures.push(...row.failed.map((failure) => ({ run, log: row.log, ...failure })))
  say(`run ${run} of ${runs}: ${row.passed} passed, ${row.failed.length} failed, ${row.secs} s (${row.log})`)
  for (const { name } of row.failed) say(`  ${name}`)
}
print()
process.exit(failures.length > 0 ? 1 : 0)

/** Runs the ring once; its output goes to a file. */
async function runOnce(run) {
  const [log, json] = [join(folder, `run-${run}.log`), join(folder, `run-${run}.json`)]
  const order = shuffle ? ['--sequence.shuffle.files', '--sequence.shuffle.tests', `--sequence.seed=${run}`] : []
  // The script without the setup in front of it.
  const [, ...given] = scripts[ring].split('&&').at(-1).trim().split(' ')
  const flags = [...given, ...order, '--reporter=default', '--reporter=json', `--outputFile=${json}`, ...extra]
  const start = performance.now()
  const output = await open(log, 'w')
  child = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...flags], {
    cwd: root,
    stdio: ['ignore', output.fd, output.fd],
  })
  const [code] = await once(child, 'exit')
  await output.close()
  const secs = Math.round((performance.now() - start) / 1000)
  const report = await readFile(json, 'utf8').then(JSON.parse, () => undefined)
  if (!report)
    return { secs, passed: 0, failed: [{ name: 'the run itself', message: `no report, exit code ${code}` }], log }
  const failed = failuresOf(report)
  // Errors outside of tests: a leak or an unhandled rejection.
  if (failed.length === 0 && code !== 0) failed.push({ name: 'outside of tests', message: `exit code ${code}` })
  return { secs, passed: report.numPassedTests, failed, log }
}

function failuresOf({ testResults }) {
  return testResults.flatMap(({ name: path, status, message, assertionResults }) => {
    const file = path.slice(root.length)
    const failed = assertionResults
      .filter((result) => result.status === 'failed')
      .map(({ fullName, failureMessages }) => ({ name: `${file}: ${fullName}`, message: failureMessages.join('\n') }))
    // A hook or an import can fail, too.
    return failed.length === 0 && status === 'failed' ? [{ name: file, message }] : failed
  })
}

function print() {
  const total = (value) => rows.reduce((sum, row) => sum + value(row), 0)
  const line = (...cells) => process.stdout.write(`| ${cells.join(' | ')} |\n`)
  line('run', 'seconds', 'passed', 'failed')
  line('---', '---:', '---:', '---:')
  for (const [index, { secs, passed, failed }] of rows.entries()) line(index + 1, secs, passed, failed.length)
  line('all', total(({ secs }) => secs), total(({ passed }) => passed), failures.length) // prettier-ignore
  for (const name of new Set(failures.map((failure) => failure.name))) {
    const found = failures.filter((failure) => failure.name === name)
    process.stdout.write(`\n${found.length} of ${rows.length}: ${name}\n`)
    for (const { run, message, log } of found) process.stdout.write(`run ${run}, ${log}\n${message}\n`)
  }
}

function readFlags() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      runs: { type: 'string', default: '20' },
      // As much as one more worker of the tests, which are two on two cores.
      load: { type: 'string', default: String(Math.ceil(availableParallelism() / 2)) },
      shuffle: { type: 'boolean', default: false },
      output: { type: 'string', short: 'o', default: join(root, 'node_modules/.cache/flake') },
    },
  })
  const [ring = 'test', ...extra] = positionals
  const count = (name, least) => {
    const number = Number(values[name])
    if (!Number.isInteger(number) || number < least) fail(`--${name} must be a whole number of at least ${least}`)
    return number
  }
  if (!rings.includes(ring)) fail(`no such ring: ${ring}; there are ${rings.join(', ')}`)
  return { ring, runs: count('runs', 1), load: count('load', 0), shuffle: values.shuffle, folder: values.output, extra }
}

function fail(message) {
  say(message)
  process.exit(2)
}
