/** `bax engine run`: becomes the local engine. Other commands start it in the background and read how that went. */
import { writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BaxError, exits } from '../../../core/errors/errors.ts'
import type { StartReport } from '../../../core/state/local-home.ts'
import { engineConfig } from '../../engine/engine-config.ts'
import { begin, type TerminalCommand } from '../../parse/invocation.ts'
import { note } from '../../io.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const { context, typed } = begin(invocation, (command) =>
      command.option('--report-fd <number>', 'file descriptor that is told how the start went'),
    )
    const { settings, io } = context
    const fd = typed.flags['reportFd'] === undefined ? undefined : Number(typed.flags['reportFd'])
    const [{ runLocalEngine }, { createEngine }] = await Promise.all([
      import('../../../server/process/local.ts'),
      import('../../../engine/index.ts'),
    ])
    let last: StartReport | undefined
    await runLocalEngine({
      config: engineConfig(settings, io),
      createEngine,
      idleExitMs: settings.idleExitMs,
      runtimeDir: io.env['XDG_RUNTIME_DIR']
        ? join(io.env['XDG_RUNTIME_DIR'], 'bax')
        : join(tmpdir(), `bax-${io.host.uid ?? 'user'}`),
      host: io.host,
      signal: io.signal,
      report(report) {
        last = report
        if (fd !== undefined) tellStarter(fd, report)
        else if (report.state === 'ready') note(io, 'the local engine is ready')
      },
    })
    if (last?.state === 'failed') throw BaxError.fromBody(last.error, 'engine_failed')
    if (last?.state === 'held' && fd === undefined)
      throw new BaxError('engine_failed', 'a local engine is running already', { hint: 'see `bax engine status`' })
    return exits.done
  },
}

function tellStarter(fd: number, report: StartReport): void {
  try {
    writeSync(fd, `${JSON.stringify(report)}\n`)
  } catch (error) {
    // The starter was interrupted; the engine is there for the next command.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}
