// `npm run soak -- --attacker`: two keys work while a third attacks everything that keys share; the two have no errors, and
// 95 of 100 units in sessions take less than a second.
// Otherwise: runs a server under steady mixed load at 80 % of the machine's capacity, then at three times its capacity, under
// constant attack: `npm run soak -- --minutes 30`. At 80 %: no errors, memory grows by at most 10 %, nothing left after SIGTERM.
// Under overload: every rejection is a 429 or 503 with Retry-After, and accepted work completes.
// Tables on stdout, progress on stderr.
import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { parseArgs, promisify } from 'node:util'
import { attack } from './soak/attacker.js'
import { findLevel, steadily, Tally } from './soak/load.js'
import { buildApart, drainSecs, memoryOf, openRelay, openServer, openSite, treeOf } from './soak/machine.js'
import { errorsOf, median, memoryTable, timesOf, verdictsOf } from './soak/table.js'
import { workOf } from './soak/work.js'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, rate: { type: 'string' }, attacker: { type: 'boolean' } },
})
const minutes = Number(values.minutes)
if (!(minutes >= 1)) {
  process.stderr.write('--minutes must be at least 1\n')
  process.exit(2)
}
const secs = minutes * 60
const share = 0.8
const sampleMs = 5000
const say = (line) => process.stderr.write(`${line}\n`)
const print = (text) => process.stdout.write(text)

const verdicts = []
const must = (sentence, found, holds) => verdicts.push({ sentence, found, holds })
/** Cleanup functions, run in reverse order at the end. */
const cleanups = []

const hasShell = await promisify(execFile)('docker', ['image', 'inspect', 'bax-shell:busybox']).then(
  () => true,
  () => false,
)

async function open(program, site, flags) {
  const server = await openServer(program, flags)
  cleanups.push(server.remove)
  const relay = await openRelay(server, server.keys[0])
  cleanups.push(relay.close)
  const works = server.keys.map((key, at) =>
    workOf({ url: server.url, key, site: site.url, relay: at === 0 ? relay.id : undefined, shell: hasShell }),
  )
  return { server, relay, works }
}

/** Ends a server and checks for leftovers. */
async function end({ server, relay }, when) {
  await relay.close()
  const pids = await treeOf(server.pid)
  const start = performance.now()
  const code = await server.stop()
  const secs = (performance.now() - start) / 1000
  must(`it ends within ${drainSecs} + 2 s ${when}`, `${secs.toFixed(1)} s`, secs <= drainSecs + 2)
  must(`SIGTERM ${when} ends the server`, `exit code ${code}`, code === 0)
  for (let attempt = 0; attempt < 100 && pids.some(isRunning); attempt += 1)
    await new Promise((resolve) => setTimeout(resolve, 100))
  const left = pids.filter(isRunning)
  must(`no process is left ${when}`, `${left.length} of ${pids.length}`, left.length === 0)
  const files = await readdir(server.temporary)
  must(`no temporary file is left ${when}`, files.join(', ') || 'none', files.length === 0)
  const serious = server.lines.filter(({ level }) => level === 'error')
  for (const line of serious.slice(0, 5)) say(JSON.stringify(line))
  must(`no error stands in the log ${when}`, serious.length, serious.length === 0)
  await server.remove()
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Samples memory every five seconds, and prints it every minute. */
function watchMemory(pid, tally) {
  const samples = []
  const began = performance.now()
  const timer = setInterval(async () => {
    const at = (performance.now() - began) / 1000
    samples.push({ at, ...(await memoryOf(pid)) })
    if (samples.length % 12 !== 0) return
    const { server, all } = samples.at(-1)
    say(
      `${Math.round(at)} s: ${tally.total} units, ${server.toFixed(0)} MB and with browsers ${all.toFixed(0)}, ${tally.failed} errors`,
    )
  }, sampleMs)
  return { samples, stop: () => clearInterval(timer) }
}

/** Compares the memory after the first sixth, in which caches fill and browsers start, with that at the end. */
function mustStayFlat(samples, of = 'all') {
  const between = (from, to) =>
    median(samples.filter(({ at }) => at > secs * from && at <= secs * to).map((sample) => sample[of]))
  const [warm, last] = [between(1 / 6, 1 / 3), between(5 / 6, 2)]
  const growth = `${warm.toFixed(0)} -> ${last.toFixed(0)} MB (${(last / warm).toFixed(2)}x)`
  must(`memory grows by no more than 10 % from minute ${(minutes / 6).toFixed(1)} on`, growth, last / warm <= 1.1)
}

/** Runs at 80 % of the machine's capacity for the whole time; returns the capacity. */
async function steady(program, site) {
  const unbounded = [
    '--rate',
    '0',
    '--max-sessions',
    '0',
    '--max-shells',
    '0',
    '--max-crawls',
    '0',
    '--max-relays',
    '0',
  ]
  const fixtures = await open(program, site, unbounded)
  const { works, server } = fixtures
  const found = await findLevel(works, Math.min(20, secs / 12), say)
  must('no error while the level is looked for', found.errors[0] ?? 'none', found.errors.length === 0)
  const level = values.rate ? Number(values.rate) / share : found.rate
  const before = works.reduce((sum, { retries }) => sum + retries, 0)
  say(
    `this machine holds ${level.toFixed(1)} units a second, ${found.concurrency} at a time; ${minutes} min at ${(level * share).toFixed(1)}`,
  )

  const attacker = attack({ url: server.url, key: server.attackerKey, stateDir: server.stateDir, shell: hasShell })
  cleanups.push(attacker.close)
  const tally = new Tally()
  const memory = watchMemory(server.pid, tally)
  const load = { perSec: level * share, forSecs: secs, most: Math.max(8, 2 * found.concurrency), share }
  const throughput = await steadily(works, load, tally)
  memory.stop()
  await attacker.stop()
  const attacks = [...attacker.tried].map(([kind, count]) => `${count} x ${kind}`).join(', ')
  for (const failure of attacker.failures.slice(0, 10)) say(failure)
  must(`no attack is answered wrongly: ${attacks}`, attacker.failures[0] ?? 'none', attacker.failures.length === 0)
  const retries = works.reduce((sum, work) => sum + work.retries, 0) - before
  const refused = [...tally.refused].map(([what, count]) => `${count} x ${what}`).join(', ')
  must('no error at 80 %', `${tally.failed} of ${tally.total + tally.failed} units`, tally.failed === 0)
  must('no refusal at 80 %', refused || `${retries}`, tally.rejections + retries === 0)
  mustStayFlat(memory.samples)
  await end(fixtures, 'after the steady load')
  print(`\n## ${minutes} min at 80 % of ${level.toFixed(1)} units a second\n\n`)
  print(
    `${tally.total} units, ${throughput.toFixed(1)} a second; ${tally.dropped} were due while the machine was busy with others\n\n`,
  )
  print(timesOf(tally) + memoryTable(memory.samples) + errorsOf(tally))
  return level
}

/** Two keys work while a third takes as much as it can of everything that keys share. */
async function besideAttacker(program, site) {
  const fixtures = await open(program, site, [])
  const { works, server } = fixtures
  const facts = { url: server.url, key: server.attackerKey, stateDir: server.stateDir, shell: hasShell }
  const attacker = attack({ ...facts, site: site.url, atOnce: 12, pauseMs: 100 })
  cleanups.push(attacker.close)
  const tally = new Tally()
  const memory = watchMemory(server.pid, tally)
  await steadily(works, { perSec: values.rate ? Number(values.rate) : 2, forSecs: secs }, tally)
  memory.stop()
  await attacker.stop()
  const attacks = [...attacker.tried].map(([kind, count]) => `${count} x ${kind}`).join(', ')
  for (const failure of attacker.failures.slice(0, 10)) say(failure)
  must(`no attack is answered wrongly: ${attacks}`, attacker.failures[0] ?? 'none', attacker.failures.length === 0)
  must('no error for the two keys', `${tally.failed} of ${tally.total + tally.failed} units`, tally.failed === 0)
  must('no refusal for the two keys', `${tally.rejections}`, tally.rejections === 0)
  const times = (tally.done.get('session') ?? []).toSorted((a, b) => a - b)
  const p95 = times[Math.floor(times.length * 0.95)] ?? Infinity
  must('95 of 100 units in sessions take less than 1 s', `${Math.round(p95)} ms`, p95 < 1000)
  mustStayFlat(memory.samples, 'server')
  await end(fixtures, 'after the attack')
  print(`\n## ${minutes} min beside an attacker\n\n`)
  print(timesOf(tally) + memoryTable(memory.samples) + errorsOf(tally))
}

/** Runs at three times the machine's capacity; 80 % of it is accepted. */
async function overload(program, site, level) {
  // A unit has at least two requests, and there are two keys.
  const rate = String(Math.max(1, Math.floor((level * share) / 2)))
  const fixtures = await open(program, site, ['--rate', rate, '--burst', rate])
  const tally = new Tally()
  await steadily(fixtures.works, { perSec: level * 3, forSecs: Math.max(15, secs / 20) }, tally)
  const kinds = [...tally.refused.keys()]
  const refused = [...tally.refused].map(([what, count]) => `${count} x ${what}`).join(', ')
  must('work is refused under overload, by 429 and 503 with Retry-After', refused || 'none', kinds.length > 0)
  must(
    'what is accepted under overload is done',
    `${tally.failed} errors, ${tally.total} done`,
    tally.failed === 0 && tally.total > 0,
  )
  await end(fixtures, 'after the overload')
  print(`## Three times as much\n\n${timesOf(tally)}${errorsOf(tally)}`)
}

say(hasShell ? 'shells: bax-shell:busybox' : 'no commands in shells: there is no Docker, or no image bax-shell:busybox')
try {
  const build = await buildApart()
  cleanups.push(build.remove)
  const site = await openSite()
  cleanups.push(site.close)
  if (values.attacker) await besideAttacker(build.program, site)
  else await overload(build.program, site, await steady(build.program, site))
} catch (error) {
  must('the soak goes through', error.stack, false)
} finally {
  for (const work of cleanups.toReversed()) await work()
}
print(`## Verdict\n\n${verdictsOf(verdicts)}`)
const failures = verdicts.filter(({ holds }) => !holds).length
print(failures === 0 ? 'soak: all held\n' : `soak: ${failures} failures\n`)
process.exit(failures === 0 ? 0 : 1)
