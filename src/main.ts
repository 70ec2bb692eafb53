/** Entry point: passes arguments, streams and signals to the CLI. The only file that accesses `process`. */
import { join } from 'node:path'
import { exitOf, type Io, stopSignals } from './cli/io.ts'
import { quick } from './cli/parse/quick.ts'

const interrupted = new AbortController()
for (const name of stopSignals) {
  process.on(name, () => {
    // A second signal exits immediately. A closed terminal can send the same one twice.
    if (!interrupted.signal.aborted) interrupted.abort(name)
    else if (name !== 'SIGHUP') process.exit(exitOf(name))
  })
}

const used = new Set<NodeJS.WriteStream>()
/** Error that prevented writing results to standard output. */
let unwritten: NodeJS.ErrnoException | undefined

/** Opens an output on first use, because each one adds half a millisecond to startup. */
function output(name: 'stdout' | 'stderr'): NodeJS.WriteStream {
  const stream = process[name]
  if (!used.has(stream)) {
    used.add(stream)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // A reader that stops early, as in `bax … | head -1`, and a closed terminal are not failures. Errors of stderr
      // cannot be reported anywhere.
      if (error.code === 'EPIPE' || error.code === 'EIO' || name === 'stderr') return
      unwritten ??= error
      interrupted.abort('SIGTERM')
    })
  }
  return stream
}

/** Adds a listener to the process; returns a function that removes it. */
function listen(name: string, listener: (value: unknown) => void): () => void {
  process.on(name as 'exit', listener)
  return () => void process.off(name, listener)
}

const io: Io = {
  get stdin() {
    return process.stdin
  },
  get stdout() {
    return output('stdout')
  },
  get stderr() {
    return output('stderr')
  },
  env: process.env,
  cwd: process.cwd(),
  signal: interrupted.signal,
  host: {
    pid: process.pid,
    uid: process.getuid?.(),
    platform: process.platform,
    nodeVersion: process.version,
    manifest: join(import.meta.dirname, 'manifest.json'),
    self: [process.execPath, import.meta.filename],
    job: {
      stop: () => void process.kill(0, 'SIGSTOP'),
      onContinue: (listener) => listen('SIGCONT', listener),
      onStopRequest: (listener) => listen('SIGTSTP', listener),
      onCrash: (listener) => listen('uncaughtException', listener),
      onExit: (listener) => listen('exit', listener),
    },
    faults: {
      onStray: (listener) => listen('unhandledRejection', listener),
      onCrash: (listener) => listen('uncaughtException', listener),
      exit: (code) => process.exit(code),
    },
  },
}

async function run(argv: readonly string[]): Promise<number> {
  try {
    const code = await quick(argv, io)
    if (code !== undefined) return code
  } catch (error) {
    const { printFailure } = await import('./cli/output/errors.ts')
    return printFailure(error, io, argv.includes('--json'))
  }
  const { main } = await import('./cli/program.ts')
  return main(argv, io)
}

/** Ends the process once its output is flushed, regardless of what else is still open. */
async function end(code: number): Promise<void> {
  const flush = async () => {
    for (const stream of used) await new Promise<void>((resolve) => stream.write('', () => resolve()))
  }
  await flush()
  if (!unwritten) process.exit(code)
  const { printWriteError } = await import('./cli/output/errors.ts')
  const failed = await printWriteError(unwritten, io)
  await flush()
  process.exit(failed)
}

// No top-level await: the build makes this file CommonJS, which starts faster.
void run(process.argv.slice(2)).then(end)
