/** The process: arguments, streams and signals to the terminal's floor. The only file that touches `process`. */
import { join } from 'node:path'
import type { Io } from './cli/io.ts'
import { quick } from './cli/quick.ts'

const interrupted = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    // Whoever asks twice does not want to wait for a clean end.
    if (interrupted.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143)
    interrupted.abort(name)
  })
}
// A reader that has seen enough, as in `bax … | head -1`, is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

const io: Io = {
  // Opened only when a command reads it.
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
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
  },
}

async function run(argv: readonly string[]): Promise<number> {
  try {
    const code = await quick(argv, io)
    if (code !== undefined) return code
  } catch (error) {
    const { tellFailure } = await import('./cli/errors.ts')
    return tellFailure(error, io, argv.includes('--json'))
  }
  const { main } = await import('./cli/program.ts')
  return main(argv, io)
}

// No top-level await: the build makes this file CommonJS, which starts faster.
void run(process.argv.slice(2)).then((code) => {
  process.exitCode = code
  // Something that was left open must not keep the terminal: everything with a result has been closed by now.
  setTimeout(() => process.exit(), 2000).unref()
})
