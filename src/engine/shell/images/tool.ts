/** Programs of this machine that make an image: run to their end, or ended with their owner. */
import { spawn } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'

/** Where system programs are, also for a user whose PATH lacks them. */
const folders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** The path of a program, or undefined. */
async function findTool(name: string): Promise<string | undefined> {
  for (const folder of folders) {
    const path = join(folder, name)
    const there = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (there) return path
  }
  return undefined
}

/** @throws BaxError `image_failed` with the package that has the program. */
export async function needTool(name: string, debianPackage: string): Promise<string> {
  const path = await findTool(name)
  if (path) return path
  throw new BaxError('image_failed', `${name} is not installed on this machine`, {
    hint: `install it (\`sudo apt install ${debianPackage}\`) and repeat the command`,
  })
}

interface Run {
  /** What is said to have failed. */
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
  readonly report?: ((line: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Lines that a failure repeats. */
const lastLines = 15

/** Runs a program with every line it says reported. @throws BaxError `image_failed` with its last lines. */
export async function runTool({ name, program, args, report, signal }: Run): Promise<void> {
  signal?.throwIfAborted()
  const said: string[] = []
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: folders.join(':'), LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' },
  })
  for (const stream of [child.stdout, child.stderr])
    forLines(stream.setEncoding('utf8'), (line) => {
      said.push(line)
      if (said.length > lastLines) said.shift()
      report?.(line)
    })
  const abort = () => child.kill('SIGKILL')
  signal?.addEventListener('abort', abort, { once: true })
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (value) => resolve(value))
    })
    signal?.throwIfAborted()
    if (code !== 0)
      throw new BaxError('image_failed', `${name} failed`, {
        details: { said },
        hint: said.at(-1) ?? 'it said nothing',
      })
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

function forLines(stream: NodeJS.ReadableStream, each: (line: string) => void): void {
  let rest = ''
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line.trim()) each(line.trimEnd())
  })
  stream.on('end', () => {
    if (rest.trim()) each(rest.trimEnd())
  })
}
