/** Applications that are driven by command lines, by scripts and by recordings. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { bax } from './cli.ts'
import { type Homes, openHomes } from './homes.ts'
import { type Recorded, startRecording } from './recorder.ts'

export interface Drives {
  /** Folder of the current test. */
  folder(): string
  /** Runs command lines on a new session, each of which must succeed; returns what the last one printed. */
  lines(...all: readonly string[][]): Promise<string>
  /** Runs a script, each step of which must find one element. */
  runScript(text: string, variables?: Record<string, string>): Promise<void>
  /** Records a session of its own, which begins with a URL. */
  record(url: string): Promise<Recorded>
}

/** Opens an engine for the tests of a file, and a folder for each of them. */
export function openDrives(): Drives {
  let homes: Homes
  let folder: string
  beforeAll(async () => {
    homes = await openHomes()
  })
  afterAll(() => homes.close())
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-driven-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))
  const env = () => ({ BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: homes.stateDir })
  return {
    folder: () => folder,
    async lines(...all) {
      const { session_id } = await homes.clients.http.createSession({ headless: true })
      let printed = ''
      for (const argv of all) {
        const { code, stdout, stderr } = await bax([...argv, '-s', session_id!], { cwd: folder, env: env() })
        expect([argv, code, code === 0 ? '' : stderr]).toEqual([argv, 0, ''])
        printed = stdout
      }
      await homes.clients.http.closeSession({ session_id: session_id! })
      return printed
    },
    async runScript(text, variables = {}) {
      await writeFile(join(folder, 'flow.yaml'), text)
      const { code, stdout, stderr } = await bax(['run', 'flow.yaml', '--strict'], {
        cwd: folder,
        env: { ...env(), ...variables },
      })
      expect([code, code === 0 ? '' : stdout + stderr + text]).toEqual([0, ''])
    },
    record: (url) => startRecording(homes, folder, [url]),
  }
}
