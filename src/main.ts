/** Entry point: passes arguments, streams and signals to the CLI. The only file that accesses `process`. */
import { fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { exitOf, type Io, stopSignals } from './cli/io.ts'
import { hostOf } from './main/host.ts'
import { FileOutput, Outputs } from './main/outputs.ts'

const interrupted = new AbortController()
for (const name of stopSignals) {
  process.on(name, () => {
    // A second signal exits immediately. A closed terminal can send the same one twice.
    if (!interrupted.signal.aborted) interrupted.abort(name)
    else if (name !== 'SIGHUP') process.exit(exitOf(name))
  })
}

/** Opens an output of the process. On Windows, it may be missing, which only Node's own streams allow. */
function openOutput(name: 'stdout' | 'stderr') {
  const fd = name === 'stdout' ? 1 : 2
  return process.platform !== 'win32' && fstatSync(fd).isFile() ? new FileOutput(fd) : process[name]
}

const outputs = new Outputs(openOutput, interrupted)

// Open folders show that a build is in use; `scripts/checkout-build.js` removes others.
if (process.platform === 'linux') openSync(import.meta.dirname, 'r')

/** Adds a listener to the process; returns a function that removes it. */
function listen(name: string, listener: (value: unknown) => void): () => void {
  process.on(name as 'exit', listener)
  return () => void process.off(name, listener)
}

function workingFolder(): string {
  try {
    return process.cwd()
  } catch {
    process.stderr.write('error: the working folder no longer exists\nhint: change to another folder\n')
    process.exit(2)
  }
}

const io: Io = {
  get stdin() {
    return process.stdin
  },
  get stdout() {
    return outputs.get('stdout')
  },
  get stderr() {
    return outputs.get('stderr')
  },
  env: process.env,
  cwd: workingFolder(),
  signal: interrupted.signal,
  host: {
    ...hostOf(import.meta.dirname),
    commandWorker: join(import.meta.dirname, 'command-worker.mjs'),
    launcher: join(import.meta.dirname, `launcher-${process.arch}`),
    job: {
      // Windows has no such signal: there, nothing stops.
      stop: () => void (process.platform !== 'win32' && process.kill(0, 'SIGSTOP')),
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
    async inside(engine) {
      const [{ main }, { insideRunner }] = await Promise.all([import('./cli/program.ts'), import('./main/inside.ts')])
      return insideRunner(main, io, engine)
    },
  },
}

/** The process ends with its command, regardless of what else is still open. */
async function run(): Promise<never> {
  const { main } = await import('./cli/program.ts')
  process.exit(await outputs.end(await main(process.argv.slice(2), io), io))
}

// No top-level await: the build makes this file CommonJS, which starts faster.
void run()
