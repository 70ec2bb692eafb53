// Breaks one line of each subsystem, and checks that the tests notice: `node scripts/mutate.js [--only NAME…]`.
// Works on a temporary copy of the checkout. First runs all tests of the table without a mutation, which have to pass.
// The table on stdout, progress on stderr. Exits with 1 if the tests do not notice a mutation.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { copyCheckout } from './mutate/copy.js'
import { mutations } from './mutate/table.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } })
const unknown = (values.only ?? []).filter((name) => !mutations.some((one) => one.name === name))
if (unknown.length > 0) {
  process.stderr.write(
    `no such mutation: ${unknown.join(', ')}; there are ${mutations.map(({ name }) => name).join(', ')}\n`,
  )
  process.exit(2)
}
const chosen = mutations.filter(({ name }) => values.only?.includes(name) ?? true)
const say = (line) => process.stderr.write(`${line}\n`)

/** Option of vitest that keeps transformed modules for the next run. */
const cached = '--experimental.fsModuleCache'
/** Files that scripts for pages import. */
const isInPages = /\.page\.ts$|^src\/engine\/extract\//

/** Process group of the tests that are running. */
let running
const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    stopped.abort()
    if (running) process.kill(-running.pid, 'SIGTERM')
  })

const folder = await mkdtemp(join(tmpdir(), 'bax-mutate-'))
try {
  await copyCheckout(root, folder)
  await compileAgent()
  await checkUnchanged()
  const rows = []
  for (const mutation of chosen) {
    const row = { ...mutation, ...(await tryMutation(mutation)) }
    rows.push(row)
    say(`${row.result.padEnd(8)} ${row.name} (${row.secs} s): ${row.by}`)
  }
  process.stdout.write(tableOf(rows))
  if (rows.some(({ result }) => result !== 'killed')) process.exitCode = 1
} catch (error) {
  if (!stopped.signal.aborted) say(error.message)
  process.exitCode = stopped.signal.aborted ? 130 : 1
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Runs the tests of all chosen mutations on the unchanged copy. @throws Error if one fails, or a file runs none. */
async function checkUnchanged() {
  const tests = [...new Set(chosen.flatMap((one) => one.tests))]
  say(`running ${tests.length} test files without a mutation`)
  const { failed, passedIn, broken } = await runTests(tests, [cached])
  const idle = tests.filter((test) => !passedIn.some((file) => file.startsWith(fileOf(test))))
  const problems = [...failed, ...broken, ...idle.map((test) => `${test}: all tests are skipped`)]
  if (problems.length > 0) throw new Error(`without a mutation:\n${[...new Set(problems)].join('\n')}`)
}

/** Compiles the program inside the containers of shell sessions, which tests do not compile themselves. */
async function compileAgent() {
  const { agent } = await import(pathToFileURL(join(folder, 'scripts/native.js')).href)
  await agent.compile([process.arch])
  agent.copy(join(folder, 'dist', 'agent'))
}

/** Runs the tests of a mutation until one fails. */
async function tryMutation({ file, text, replacement, tests }) {
  const path = join(folder, file)
  const source = await readFile(path, 'utf8')
  if (source.split(text).length !== 2) throw new Error(`${file} does not contain this text exactly once: ${text}`)
  const write = async (content) => {
    await writeFile(path, content)
    if (/\.[ch]$/.test(file)) await compileAgent()
  }
  const start = performance.now()
  await write(source.replace(text, () => replacement))
  try {
    // The cache does not know what a script for pages contains.
    const cache = isInPages.test(file) ? [] : [cached]
    const { failed, broken } = await runTests(tests, ['--bail', '1', ...cache])
    const secs = Math.round((performance.now() - start) / 1000)
    if (failed.length > 0) return { result: 'killed', by: failed[0], secs }
    // The mutation must be noticed by a test, and not by the import of a file.
    return broken.length > 0 ? { result: 'broken', by: broken[0], secs } : { result: 'survived', by: '', secs }
  } finally {
    await write(source)
  }
}

/** Runs test files in the copy: those after `fleet:` in the project of this name, all others in all other projects. */
async function runTests(tests, options = []) {
  const onFleet = tests.filter((test) => test.startsWith('fleet:'))
  const others = tests.filter((test) => !test.startsWith('fleet:'))
  const runs = [
    ...(others.length > 0 ? [await runVitest(['--project', '!fleet', ...options, ...others])] : []),
    ...(onFleet.length > 0 ? [await runVitest(['--project', 'fleet', ...options, ...onFleet.map(fileOf)])] : []),
  ]
  return {
    failed: runs.flatMap(({ failed }) => failed),
    broken: runs.flatMap(({ broken }) => broken),
    passedIn: runs.flatMap(({ passedIn }) => passedIn),
  }
}

async function runVitest(parameters) {
  stopped.signal.throwIfAborted()
  const report = join(folder, 'mutate-report.json')
  await rm(report, { force: true })
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs')
  const fixed = ['run', '--config', 'test/vitest.config.ts', '--root', '.', '--retry', '0']
  const output = ['--reporter', 'json', '--outputFile', report]
  const end = await new Promise((resolve, reject) => {
    running = spawn(process.execPath, [vitest, ...fixed, ...output, ...parameters], {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let errors = ''
    running.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-4000)))
    running.on('error', reject).on('close', () => resolve(errors))
  })
  running = undefined
  stopped.signal.throwIfAborted()
  const text = await readFile(report, 'utf8').catch(() => undefined)
  if (text === undefined) return { failed: [], broken: [end || 'vitest wrote no report'], passedIn: [] }
  const files = JSON.parse(text).testResults.map((one) => ({ ...one, file: one.name.slice(folder.length + 1) }))
  const testsOf = (status) =>
    files.flatMap(({ file, assertionResults }) =>
      assertionResults.filter((one) => one.status === status).map(({ fullName }) => ({ file, fullName })),
    )
  return {
    failed: testsOf('failed').map(({ file, fullName }) => `${file}: ${fullName}`),
    passedIn: testsOf('passed').map(({ file }) => file),
    // A file that could not be loaded, or whose hook failed, has a message and no failed test.
    broken: files
      .filter(
        ({ status, assertionResults }) =>
          status === 'failed' && !assertionResults.some((one) => one.status === 'failed'),
      )
      .map(({ file, message }) => `${file}: ${message.split('\n', 1)[0]}`),
  }
}

function fileOf(test) {
  return test.replace(/^fleet:/, '')
}

function tableOf(rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', String.raw`\|`)).join(' | ')} |\n`
  const cells = rows.map(({ subsystem, name, result, by, secs }) => [subsystem, name, result, by, secs])
  return [['subsystem', 'mutation', 'result', 'noticed by', 'seconds'], ['---', '---', '---', '---', '---'], ...cells].map(line).join('') // prettier-ignore
}
