/**
 * Entry point of a command worker: a process of the local engine in which the program is loaded already. It runs the
 * command lines of launchers, one at a time, in their working folder and environment. A process of its own for each
 * command means that one that blocks or fails affects no other, nor the engine.
 */
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Io } from '../cli/io.ts'
import { commandTable } from '../cli/parse/command-table.ts'
import { loadCommand } from '../cli/parse/command-modules.ts'
import { main } from '../cli/program.ts'
import type { CliManifest } from '../cli/parse/table-entry.ts'
import { whyNode, type WarmProcess } from './hello.ts'
import { type Connection, serveLauncher } from './launcher-connection.ts'
import { frame } from './remote-terminal.ts'

const folder = import.meta.dirname
const manifestPath = join(folder, 'manifest.json')
const manifest = JSON.parse(readFileSync(manifestPath, 'utf8')) as CliManifest
const [stateDir = '', browser] = process.argv.slice(2)
const warm: WarmProcess = {
  build: readFileSync(join(folder, 'build-id'), 'utf8'),
  folder,
  stateDir,
  enginePid: process.ppid,
  browser: browser || undefined,
  env: { ...process.env },
  manifest,
  entries: commandTable(manifest),
}

const host: Io['host'] = {
  pid: process.pid,
  uid: process.getuid?.(),
  platform: process.platform,
  nodeVersion: process.version,
  manifest: manifestPath,
  self: [process.execPath, join(folder, 'main.js')],
}

/** Time in which an aborted command must end, in milliseconds. */
const abortMs = 5000

const maxRssBytes = 300 * 1024 * 1024

/** Connection of the command that runs, for errors that it does not catch. */
let current: Socket | undefined

const connection: Connection = {
  /** Takes over the working folder and environment of the command. */
  accept(hello) {
    const reason = whyNode(hello, warm)
    if (reason !== undefined) return reason
    process.chdir(hello.cwd)
    process.umask(hello.umask)
    for (const name of Object.keys(process.env)) if (hello.env[name] === undefined) delete process.env[name]
    for (const [name, value] of Object.entries(hello.env)) if (process.env[name] !== value) process.env[name] = value
    return undefined
  },
  run: main,
  host,
  refusal: 'F',
  onGone: (isDone) => void setTimeout(() => isDone() || process.exit(1), abortMs),
}

process.on('uncaughtException', (error) => {
  const text = `${error.stack ?? error}\n`
  const exit = () => process.exit(1)
  if (current) current.end(Buffer.concat([frame('R', Buffer.from(text)), frame('X', Buffer.from([1]))]), exit)
  else process.stderr.write(text, exit)
})
process.on('disconnect', () => process.exit(0))
process.on('message', (_message, socket) => {
  current = socket as Socket
  void serveLauncher(current, connection).then(() => {
    current = undefined
    // A command that needed much memory must not keep it.
    if (process.memoryUsage.rss() > maxRssBytes) process.exit(0)
    process.send?.('idle')
  })
})

/** Loads and compiles what commands need, so that the first one does not have to. None of these calls has an effect. */
async function warmUp(): Promise<void> {
  const shared = warm.entries.filter(({ place, operation }) => place !== 'own process' && !operation)
  await Promise.all(shared.map(({ words }) => loadCommand(words)))
  const discarded = { write: () => true }
  const stdin = { async *[Symbol.asyncIterator]() {} }
  const { signal } = new AbortController()
  const io: Io = { stdin, stdout: discarded, stderr: discarded, env: {}, cwd: folder, signal, host }
  const noServer = ['--server', `unix:${join(folder, 'none')}`]
  for (const argv of [['--help'], ['do', 'get-title', ...noServer], ['session', 'list', ...noServer]])
    await main(argv, io)
}

await warmUp()
process.send?.('idle')
