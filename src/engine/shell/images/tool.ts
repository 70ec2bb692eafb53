/** Runs programs of this machine that build an image. */
import { spawn } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import { succeeds } from '../../../core/succeeds.ts'

/** Folders of system programs, searched even if PATH lacks them. */
const folders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** Returns the path of a program. @throws BaxError `image_failed` with the package that contains it. */
export async function needTool(name: string, debianPackage: string): Promise<string> {
  for (const folder of folders) {
    const path = join(folder, name)
    if (await succeeds(access(path, constants.X_OK))) return path
  }
  throw new BaxError('image_failed', `${name} is not installed on this machine`, {
    hint: `install it (\`sudo apt install ${debianPackage}\`) and retry`,
  })
}

export interface ToolRun {
  /** Description for the error message. */
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
  readonly report?: ((line: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Number of output lines in the error. */
const lastLines = 15

/** Runs a program and reports every line of its output. @throws BaxError `image_failed` with the last lines. */
export async function runTool({ name, program, args, report, signal }: ToolRun): Promise<void> {
  signal?.throwIfAborted()
  const output: string[] = []
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: folders.join(':'), LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' },
  })
  for (const stream of [child.stdout, child.stderr])
    forLines(stream.setEncoding('utf8'), (line) => {
      output.push(line)
      if (output.length > lastLines) output.shift()
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
        details: { said: output },
        hint: output.at(-1) ?? 'it printed nothing',
      })
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

function forLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = ''
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line.trim()) onLine(line.trimEnd())
  })
  stream.on('end', () => {
    if (rest.trim()) onLine(rest.trimEnd())
  })
}
