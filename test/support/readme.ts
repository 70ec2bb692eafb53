/** The examples of README.md and the guide, and a shell that runs them as readers would. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { noConfig } from './no-config.ts'
import { waitUntil } from './wait.ts'

export interface Example {
  /** Topic of its page of the guide; in the README, `README: ` and the heading above it. */
  readonly section: string
  /** `sh`, `yaml`, `js`, `json`, `console`, `text`, or empty. */
  readonly language: string
  readonly text: string
}

const root = new URL('../../', import.meta.url)

/** Returns the Markdown of the README by heading, and of the guide by topic. */
export async function readDocuments(): Promise<Map<string, string>> {
  const readme = await readFile(new URL('README.md', root), 'utf8')
  const parts = readme.split(/\n(?=## )/).map((part) => [`README: ${/^##? (.*)/.exec(part)![1]}`, part] as const)
  const files = (await readdir(new URL('src/guide/', root))).toSorted()
  const pages = files.map(async (name) => {
    return [name.replace(/\.md$/, ''), await readFile(new URL(`src/guide/${name}`, root), 'utf8')] as const
  })
  return new Map([...parts, ...(await Promise.all(pages))])
}

/** Returns every fenced block of the README and the guide, in order. */
export async function readExamples(): Promise<Example[]> {
  return [...(await readDocuments())].flatMap(([section, text]) =>
    [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map(([, language, code]) => ({
      section,
      language: language!,
      text: code!,
    })),
  )
}

export interface RunResult {
  readonly code: number
  readonly out: string
  readonly errors: string
}

/** A folder for running examples, with the files that they use, and with `bax` and `chromium` on the PATH. */
export class Workspace {
  readonly folder: string
  readonly #env: Record<string, string>

  private constructor(folder: string, env: Record<string, string>) {
    this.folder = folder
    this.#env = env
  }

  /** `program` is the path of the built bax, `browser` that of Chromium. */
  static async open(program: string, browser: string, env: Record<string, string>): Promise<Workspace> {
    const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url))
    await mkdir(cache, { recursive: true })
    // Inside the checkout, so that JavaScript examples find its packages.
    const folder = await mkdtemp(join(cache, 'bax-readme-'))
    const PATH = `${join(folder, 'bin')}:${process.env['PATH']}`
    const workspace = new Workspace(folder, { ...env, PATH, HOME: folder, BAX_CONFIG: noConfig })
    // The site of the examples is on this machine, which a server may only reach with a flag.
    await workspace.install(
      'bax',
      `[ "$1" = serve ] && set -- "$@" --allow-private 127.0.0.1\nexec node ${program} "$@"`,
    )
    await workspace.install('chromium', `exec ${browser} --headless --no-sandbox "$@"`)
    return workspace
  }

  async write(name: string, content: string): Promise<void> {
    await mkdir(dirname(join(this.folder, name)), { recursive: true })
    await writeFile(join(this.folder, name), content)
  }

  async install(name: string, lines: string): Promise<void> {
    await this.write(`bin/${name}`, `#!/bin/sh\n${lines}\n`)
    await chmod(join(this.folder, 'bin', name), 0o755)
  }

  /** Runs lines in bash until one fails; background processes end with them. */
  async run(lines: string): Promise<RunResult> {
    // Not pipes: a background program that makes a pipe non-blocking does so for all others.
    const [out, errors] = await Promise.all([
      open(join(this.folder, '.out'), 'w+'),
      open(join(this.folder, '.errors'), 'w+'),
    ])
    try {
      const child = spawn('bash', ['--norc', '-c', `set -e\n${lines}`], {
        cwd: this.folder,
        env: this.#env,
        detached: true,
        stdio: ['ignore', out.fd, errors.fd],
      })
      const [code] = (await once(child, 'exit')) as [number | null]
      await endGroup(child.pid!)
      const read = (file: string) => readFile(join(this.folder, file), 'utf8')
      return { code: code ?? -1, out: await read('.out'), errors: await read('.errors') }
    } finally {
      await Promise.all([out.close(), errors.close()])
    }
  }

  close(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Ends all processes of a group, and waits until they have ended. */
async function endGroup(leader: number): Promise<void> {
  const send = (signal: NodeJS.Signals | 0) => {
    try {
      return process.kill(-leader, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
      throw error
    }
  }
  send('SIGTERM')
  await waitUntil(() => !send(0))
}
