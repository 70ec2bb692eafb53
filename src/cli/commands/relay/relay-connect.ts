/** `bax relay connect`: connects a browser of this machine to an engine until a signal. */
import { resolve } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import { engineToCall } from '../../../core/state/engine-socket.ts'
import type { ConnectorStatus } from '../../../engine/relay/connector/connector.ts'
import type { Context } from '../../context.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { engineConfig } from '../../engine/engine-config.ts'
import { serviceExit } from '../../output/errors.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { note, print } from '../../io.ts'
import { addConnectFlags, readConnect } from '../../relay/connect-options.ts'

export const command: TerminalCommand = {
  cli: 'relay connect',
  summary: 'Connect a browser to an engine',
  example: [
    'bax relay connect --running chrome',
    'bax relay connect --cdp http://127.0.0.1:9222 --name laptop',
    "bax relay connect --launch --policy read-only --tab 'https://example.com/*'",
  ],
  place: 'own process',
  async run(invocation) {
    const { context: typedContext, typed } = parseInvocation(invocation, addConnectFlags)
    const { io } = typedContext
    const options = readConnect(typed, io)
    const { browser, ...others } = typedContext.settings
    // In `--browser chrome`, the value is a running browser and not a program.
    const names = 'running' in options.browser && browser === options.browser.running
    const context = { ...typedContext, settings: names ? others : typedContext.settings }
    const { checkBrowser, openUserBrowser } = await import('../../../engine/relay/connector/user-browser.ts')
    const config = engineConfig(context.settings, io)
    const search = {
      source: options.browser,
      config,
      approveMs: options.approveMs,
      report: (line: string) => note(io, line),
    }
    refuseEmbedded(context)
    // Before an engine is started.
    await checkBrowser(search, io.signal)
    const [engine, { makeBatchTools }, { Connector }, { dialEngine }] = await Promise.all([
      engineAddress(context),
      import('../../../engine/batch-tools.ts'),
      import('../../../engine/relay/connector/connector.ts'),
      import('../../../engine/relay/connector/dial.ts'),
    ])
    const { name, attachment } = options
    // The key of a server, which the local engine does not need.
    const token = options.token ?? (engine.startsWith('http') ? context.settings.apiKey : undefined)
    const connector = new Connector({
      name,
      attachment,
      browser: (signal) => openUserBrowser(search, signal),
      dial: (signal, sessionId) => dialEngine({ engine, ...(token !== undefined && { token }) }, signal, sessionId),
      tools: makeBatchTools(config),
      onStatus: statusReporter(context, name, 'launch' in options.browser),
    })
    await connector.run(io.signal)
    // Without a signal, the user has closed the launched browser.
    if (io.signal.aborted) return serviceExit(io)
  },
}

/** Prints the ID to stdout once, and other states to stderr. */
function statusReporter(
  { io, settings }: Context,
  name: string | null,
  launched: boolean,
): (status: ConnectorStatus) => void {
  let id = ''
  return (status) => {
    if (status.state === 'reconnecting') note(io, `connection to the engine lost (${status.cause}); reconnecting`)
    else if (status.state === 'browser_lost') note(io, 'connection to the browser lost; waiting for it')
    else if (status.sessionId === id) note(io, 'reconnected')
    else {
      id = status.sessionId
      print(io, settings.json ? JSON.stringify({ id, name }) : id)
      note(io, `connected; ^C disconnects the browser and ${launched ? 'closes it' : 'leaves it open'}`)
    }
  }
}

/** @throws BaxError `invalid_request` */
function refuseEmbedded({ settings }: Context): void {
  if (!settings.embedded) return
  throw new BaxError('invalid_request', 'an embedded engine ends with its command and cannot be reached by others', {
    hint: 'leave out --embedded to use the local engine',
  })
}

/** Returns `http(s)://…` or `unix:/path`. @throws BaxError `engine_unreachable`, `engine_failed` */
async function engineAddress(context: Context): Promise<string> {
  const { settings, io } = context
  const { server } = settings
  if (server?.startsWith('unix:')) return `unix:${resolve(io.cwd, server.slice('unix:'.length))}`
  return withEngine(context, { when: 'start' }, async ({ name, ask }) => {
    if (server !== undefined) return name
    // Any call starts the engine if none runs.
    await ask('health', {}, { signal: io.signal })
    const state = engineToCall(settings.stateDir, io.host.uid)
    if (!state) throw new BaxError('engine_failed', 'the local engine ended right after its start')
    return `unix:${state.socket}`
  })
}
