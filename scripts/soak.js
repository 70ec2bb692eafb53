// A server of its own under steady mixed load at 80 % of what this machine holds, and then under three times as much:
// `npm run soak -- --minutes 30`. Asserts: no error, memory flat within 10 %, nothing left after SIGTERM; under overload
// every refusal is a 429 or 503 with Retry-After, and what was accepted is done.
import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { parseArgs, promisify } from 'node:util'
import { memoryOf, openRelay, openServer, openSite, treeOf } from './soak/machine.js'
import { Refused, workOf } from './soak/work.js'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, rate: { type: 'string' } },
})
const minutes = Number(values.minutes)
if (!(minutes >= 1)) {
  process.stderr.write('--minutes must be at least 1\n')
  process.exit(2)
}
const secs = minutes * 60
const say = (line) => process.stderr.write(`${line}\n`)
const faults = []
const must = (holds, sentence) => {
  if (!holds) faults.push(sentence)
}
const hasShell = await promisify(execFile)('docker', ['image', 'inspect', 'bax-shell:busybox']).then(
  () => true,
  () => false,
)
say(hasShell ? 'shells: bax-shell:busybox' : 'no commands in shells: there is no Docker, or no image bax-shell:busybox')

/** What each kind of work came to. */
class Tally {
  done = {}
  refused = {}
  errors = []
  take(kind) {
    this.done[kind] = (this.done[kind] ?? 0) + 1
  }
  refuse({ status, retryAfter }) {
    this.refused[status] = (this.refused[status] ?? 0) + 1
    if (!/^[1-9]\d*$/.test(retryAfter ?? '')) this.errors.push(`a ${status} without Retry-After`)
  }
  get total() {
    return Object.values(this.done).reduce((sum, count) => sum + count, 0)
  }
}

async function one(work, tally) {
  try {
    tally.take(await work())
  } catch (error) {
    if (error instanceof Refused) tally.refuse(error)
    else tally.errors.push(error.message)
  }
}

/** Work that begins at a steady rate, whatever becomes of what began before; resolves when all of it is over. */
async function steadily(works, perSec, forSecs, tally, most = Infinity) {
  const open = new Set()
  const start = performance.now()
  for (let begun = 0; performance.now() - start < forSecs * 1000; begun += 1) {
    const due = start + (begun / perSec) * 1000
    if (due > performance.now()) await new Promise((resolve) => setTimeout(resolve, due - performance.now()))
    if (open.size >= most) continue
    const running = one(works[begun % works.length], tally).finally(() => open.delete(running))
    open.add(running)
  }
  await Promise.all(open)
}

/** Units a second when so many are at work all the time. */
async function throughput(works, together, forSecs) {
  const tally = new Tally()
  const start = performance.now()
  const until = start + forSecs * 1000
  await Promise.all(
    Array.from({ length: together }, async (_, at) => {
      while (performance.now() < until) await one(works[at % works.length], tally)
    }),
  )
  must(tally.errors.length === 0, `while looking for the level: ${tally.errors[0]}`)
  return tally.total / ((performance.now() - start) / 1000)
}

/** What the machine holds: more at a time until that brings less than a tenth more. */
async function findLevel(works) {
  let best = 0
  for (let together = 2; together <= 64; together *= 2) {
    const found = await throughput(works, together, Math.min(20, secs / 12))
    say(`${together} at a time: ${found.toFixed(1)} units a second`)
    if (found < best * 1.1) return Math.max(best, found)
    best = found
  }
  return best
}

async function open(flags) {
  const server = await openServer(flags)
  const relay = await openRelay(server, server.keys[0])
  const works = server.keys.map((key, at) =>
    workOf({ url: server.url, key, site: site.url, relay: at === 0 ? relay.id : undefined, shell: hasShell }),
  )
  return { server, relay, works }
}

/** Ends a server and looks at what is left of it. */
async function end({ server, relay }) {
  await relay.close()
  const pids = await treeOf(server.pid)
  const code = await server.stop()
  must(code === 0, `the server ended with ${code} after SIGTERM`)
  const left = []
  for (const pid of pids) {
    for (let look = 0; look < 50 && isRunning(pid); look += 1) await new Promise((resolve) => setTimeout(resolve, 100))
    if (isRunning(pid)) left.push(pid)
  }
  must(left.length === 0, `processes left after SIGTERM: ${left.join(', ')}`)
  const files = await readdir(server.temporary)
  must(files.length === 0, `files left in the temporary folder: ${files.join(', ')}`)
  const serious = server.lines.filter(({ level }) => level === 'error')
  must(
    serious.length === 0,
    `errors in the log: ${serious
      .slice(0, 3)
      .map((line) => JSON.stringify(line))
      .join(' ')}`,
  )
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

const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length

const site = await openSite()
try {
  const unbounded = ['--rate', '0', '--max-sessions', '0', '--max-shells', '0', '--max-crawls', '0']
  const first = await open(unbounded)
  const level = values.rate ? Number(values.rate) / 0.8 : await findLevel(first.works)
  const rate = level * 0.8
  say(`this machine holds ${level.toFixed(1)} units a second; ${minutes} min at ${rate.toFixed(1)}`)

  const tally = new Tally()
  const samples = []
  const began = performance.now()
  const sampling = setInterval(async () => {
    const at = (performance.now() - began) / 1000
    samples.push({ at, mb: await memoryOf(first.server.pid) })
    if (samples.length % 12 === 0)
      say(
        `${Math.round(at)} s: ${tally.total} units, ${samples.at(-1).mb.toFixed(0)} MB, ${tally.errors.length} errors`,
      )
  }, 5000)
  await steadily(first.works, rate, secs, tally)
  clearInterval(sampling)
  must(tally.errors.length === 0, `${tally.errors.length} errors at 80 %, the first: ${tally.errors[0]}`)
  must(Object.keys(tally.refused).length === 0, `refusals at 80 %: ${JSON.stringify(tally.refused)}`)
  // The first sixth warms up: caches fill, browsers start.
  const warm = samples.filter(({ at }) => at > secs / 6 && at <= secs / 3).map(({ mb }) => mb)
  const last = samples.filter(({ at }) => at > (secs * 5) / 6).map(({ mb }) => mb)
  const growth = mean(last) / mean(warm)
  must(Math.abs(growth - 1) <= 0.1, `memory went from ${mean(warm).toFixed(0)} to ${mean(last).toFixed(0)} MB`)
  say(
    `done ${JSON.stringify(tally.done)}; memory ${mean(warm).toFixed(0)} -> ${mean(last).toFixed(0)} MB (${growth.toFixed(2)}x)`,
  )
  await end(first)

  // Half of what the machine holds for each of the two keys; three times as much is asked for.
  const share = Math.max(1, Math.floor(level / 2))
  const second = await open(['--rate', String(share), '--burst', String(share * 2)])
  const over = new Tally()
  await steadily(second.works, level * 3, Math.max(15, secs / 20), over)
  must(over.errors.length === 0, `${over.errors.length} errors under overload, the first: ${over.errors[0]}`)
  must(Object.keys(over.refused).length > 0, 'nothing was refused under overload')
  must(over.total > 0, 'nothing was done under overload')
  say(`overload: done ${over.total}, refused ${JSON.stringify(over.refused)}`)
  await end(second)
} finally {
  site.close()
}
for (const fault of faults) say(`FAULT: ${fault}`)
process.stdout.write(faults.length === 0 ? 'soak: all held\n' : `soak: ${faults.length} faults\n`)
process.exit(faults.length === 0 ? 0 : 1)
