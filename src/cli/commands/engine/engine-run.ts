/** `bax engine run`: runs the local engine. Other commands start it in the background and read its start report. */
import { systemCode } from '../../../core/errors/system-errors.ts'
import { writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embedded, type WireRequest } from '../../../client/transport.ts'
import { proxiesDigest } from '../../../core/config/proxy-settings.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { StartReport } from '../../../core/state/local-files.ts'
import { engineConfig } from '../../engine/engine-config.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { note } from '../../io.ts'

export const command: TerminalCommand = {
  cli: 'engine run',
  summary: 'Run the local engine in the foreground',
  hidden: true,
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) =>
      command.option('--report-fd <number>', 'file descriptor for the start report'),
    )
    const { settings, io } = context
    const fd = typed.flags['reportFd'] === undefined ? undefined : Number(typed.flags['reportFd'])
    const [{ runLocalEngine }, { createEngine }] = await Promise.all([
      import('../../../server/process/local.ts'),
      import('../../../engine/index.ts'),
    ])
    const proxies = proxiesDigest(settings.proxies)
    let last: StartReport | undefined
    await runLocalEngine({
      config: engineConfig(settings, io),
      createEngine,
      idleExitMs: settings.idleExitMs,
      runtimeDir: io.env['XDG_RUNTIME_DIR']
        ? join(io.env['XDG_RUNTIME_DIR'], 'bax')
        : join(tmpdir(), `bax-${io.host.uid ?? 'user'}`),
      host: io.host,
      ...(io.host.commandWorker && {
        commandWorker: {
          program: io.host.commandWorker,
          arguments: [settings.stateDir, settings.browser ?? ''],
          inside(fetch, direct) {
            const app = embedded(fetch)
            const transport = { ...app, send: (request: WireRequest) => direct(request)?.() ?? app.send(request) }
            return io.host.inside!({
              stateDir: settings.stateDir,
              browser: settings.browser,
              ...(proxies && { proxies }),
              transport,
            })
          },
        },
      }),
      signal: io.signal,
      report(report) {
        last = report
        if (fd !== undefined) writeReport(fd, report)
        else if (report.state === 'ready') note(io, 'the local engine is ready')
      },
    })
    if (last?.state === 'failed') throw BaxError.fromBody(last.error, 'engine_failed')
    if (last?.state === 'held' && fd === undefined)
      throw new BaxError('engine_failed', 'a local engine is already running', {
        hint: 'run "bax engine status" for details',
      })
  },
}

function writeReport(fd: number, report: StartReport): void {
  try {
    writeSync(fd, `${JSON.stringify(report)}\n`)
  } catch (error) {
    // The starting command was interrupted; the engine stays for the next one.
    if (systemCode(error) !== 'EPIPE') throw error
  }
}
