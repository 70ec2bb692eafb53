/** A separate process with an engine that has one session, for tests that kill it. */
import type { ChildProcess } from 'node:child_process'
import { makeHostProgram } from './host-process.ts'

export interface EngineHost {
  readonly process: ChildProcess
  /** Process ID of the browser. */
  readonly browserPid: number
  close(): Promise<void>
}

/** Starts it with its temporary files in `temporary`; resolves once its session is ready. */
export async function startEngineHost(temporary: string): Promise<EngineHost> {
  const program = await makeHostProgram(source)
  const { process, message } = await program.start<number>([], { TMPDIR: temporary })
  return { process, browserPid: message, close: program.close }
}

const source = `
import { createEngine } from './src/engine/index.ts'
const engine = createEngine({
  home: 'server', stateDir, cacheDir: stateDir, display: false, writeAnywhere: true, log: () => {},
})
const call = { signal: new AbortController().signal, baseUrl: 'http://localhost', socketBaseUrl: null, requestId: 'req_test', caller: { keyId: null, name: null, scopes: [], admin: true } }
const input = { use_random_user_agent: false, disable_automation_detection: false, idle_timeout_secs: 0, timeout_secs: 60, keep_alive: false, save_profile: false }
await engine.sessions.create(input, call)
const { browsers } = await engine.status()
process.send(browsers[0].pid)
`
