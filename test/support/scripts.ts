/** `bax run` in tests: scripts as texts in a temporary folder. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { bax, type CliOptions, type CliResult } from './cli.ts'
import { type Homes, openHomes } from './homes.ts'

export interface ScriptFolder {
  readonly path: string
  write(name: string, text: string | Uint8Array): Promise<void>
  read(name: string): Promise<string>
  bytes(name: string): Promise<Buffer>
  /** Returns every file below, as paths relative to the folder. */
  files(below?: string): Promise<string[]>
  /** State folder of its engine. */
  readonly state: string
  /** Runs `bax run` there, with its own engine. */
  run(argv: readonly string[], options?: CliOptions): Promise<CliResult>
  close(): Promise<void>
}

export async function scriptFolder(): Promise<ScriptFolder> {
  const path = await mkdtemp(join(tmpdir(), 'bax-scripts-'))
  const state = await mkdtemp(join(tmpdir(), 'bax-state-'))
  return {
    path,
    state,
    async write(name, text) {
      await mkdir(dirname(join(path, name)), { recursive: true })
      await writeFile(join(path, name), text)
    },
    read: (name) => readFile(join(path, name), 'utf8'),
    bytes: (name) => readFile(join(path, name)),
    async files(below = '.') {
      const entries = await readdir(join(path, below), { recursive: true, withFileTypes: true })
      const names = entries
        .filter((entry) => entry.isFile())
        .map((entry) => relative(path, join(entry.parentPath, entry.name)))
      return names.toSorted()
    },
    run: (argv, options = {}) => bax(['run', ...argv, '--state-dir', state], { cwd: path, ...options }),
    async close() {
      await rm(path, { recursive: true, force: true })
      await rm(state, { recursive: true, force: true })
    },
  }
}

/** Sets up an engine over HTTP for a test file, and a new folder of scripts for each test; runs `bax run` there. */
export function scriptsOnServer() {
  let folder: ScriptFolder
  let homes: Homes
  beforeAll(async () => {
    homes = await openHomes()
  })
  afterAll(() => homes.close())
  beforeEach(async () => {
    folder = await scriptFolder()
  })
  afterEach(() => folder.close())
  const page = (html: string) => `session: {start_url: ${JSON.stringify(`data:text/html,${html}`)}}\n`
  return {
    get folder() {
      return folder
    },
    get homes() {
      return homes
    },
    run: (argv: readonly string[], options: CliOptions = {}) =>
      folder.run([...argv, '--server', homes.baseUrl], options),
    page,
    passing: `${page('x')}steps: [get_title]\n`,
  }
}
