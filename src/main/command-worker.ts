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
import { ownCommands } from '../cli/parse/own-commands.ts'
import { main } from '../cli/program.ts'
import type { Manifest } from '../operations/manifest.ts'
import { type Hello, parseHello, whyNode, type WarmProcess } from './hello.ts'
import { Outputs } from './outputs.ts'
import { frame, frameReader, remoteTerminal } from './remote-terminal.ts'

const folder = import.meta.dirname
const manifestPath = join(folder, 'manifest.json')
const manifest = JSON.parse(readFileSync(manifestPath, 'utf8')) as Manifest
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

/** Output of the command that runs, for errors that it does not catch. */
let current: Socket | undefined

async function serve(socket: Socket): Promise<void> {
  current = socket
  socket.on('error', () => {
    // A connection that fails also closes, which ends the command.
  })
  const interrupted = new AbortController()
  let terminal: ReturnType<typeof remoteTerminal> | undefined
  let refusal = ''
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const hello = await new Promise<Hello | undefined>((resolve) => {
    let started: (() => void) | undefined
    const read = frameReader(([type, payload]) => {
      if (type === 'H' && !started) {
        const parsed = accept(payload)
        if (typeof parsed === 'string') {
          refusal = parsed
          return resolve(undefined)
        }
        started = () => resolve(parsed)
        terminal = remoteTerminal(socket, parsed, interrupted)
        socket.write(frame('A'))
      } else if (type === 'G') started?.()
      else terminal?.take([type, payload])
    })
    socket.on('data', (chunk) => {
      try {
        read(chunk)
      } catch {
        // Not a launcher of this build.
        socket.destroy()
      }
    })
    void closed.then(() => resolve(undefined))
    socket.resume()
  })
  if (hello && terminal) {
    const { close } = terminal
    let isDone = false
    void closed.then(() => {
      if (isDone) return
      close()
      setTimeout(() => isDone || process.exit(1), abortMs)
    })
    const code = await run(hello, terminal, interrupted)
    isDone = true
    socket.end(frame('X', Buffer.from([code])))
  } else socket.end(frame('F', Buffer.from(refusal)))
  await closed
  current = undefined
}

/** Returns the hello of a command after taking over its working folder and environment, or why it cannot run here. */
function accept(payload: Buffer): Hello | string {
  try {
    const hello = parseHello(payload)
    const reason = whyNode(hello, warm)
    if (reason !== undefined) return reason
    process.chdir(hello.cwd)
    process.umask(hello.umask)
    for (const name of Object.keys(process.env)) if (hello.env[name] === undefined) delete process.env[name]
    for (const [name, value] of Object.entries(hello.env)) if (process.env[name] !== value) process.env[name] = value
    return hello
  } catch (error) {
    // Node reports what is wrong with the arguments, the settings or the working folder.
    return (error as Error).message
  }
}

async function run(hello: Hello, terminal: ReturnType<typeof remoteTerminal>, interrupted: AbortController) {
  const outputs = new Outputs((name) => terminal[name], interrupted)
  const io: Io = {
    stdin: terminal.stdin,
    get stdout() {
      return outputs.get('stdout')
    },
    get stderr() {
      return outputs.get('stderr')
    },
    env: process.env,
    cwd: hello.cwd,
    signal: interrupted.signal,
    host,
  }
  return outputs.end(await main(hello.argv, io), io)
}

process.on('uncaughtException', (error) => {
  const text = `${error.stack ?? error}\n`
  const exit = () => process.exit(1)
  if (current) current.end(Buffer.concat([frame('R', Buffer.from(text)), frame('X', Buffer.from([1]))]), exit)
  else process.stderr.write(text, exit)
})
process.on('disconnect', () => process.exit(0))
process.on('message', (_message, socket) => {
  void serve(socket as Socket).then(() => {
    // A command that needed much memory must not keep it.
    if (process.memoryUsage.rss() > maxRssBytes) process.exit(0)
    process.send?.('idle')
  })
})

/** Loads and compiles what commands need, so that the first one does not have to. None of these calls has an effect. */
async function warmUp(): Promise<void> {
  const shared = warm.entries.filter((entry) => !entry.ownProcess && !entry.operation)
  await Promise.all(shared.map(({ words }) => ownCommands[words]?.()))
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
