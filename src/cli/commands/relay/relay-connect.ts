/** `bax relay connect`: brings a browser of this machine to an engine, until it is told to end. */
import { exits } from '../../../core/errors/errors.ts'
import type { ConnectorStatus } from '../../../engine/relay/connector/connector.ts'
import { engineConfig } from '../../engine/engine-config.ts'
import { serviceExit } from '../../output/errors.ts'
import { begin, type TerminalCommand } from '../../parse/invocation.ts'
import { type Io, note, print } from '../../io.ts'
import { engineAddress } from '../../relay/engine-address.ts'
import { addConnectFlags, type ConnectWishes, readWishes } from '../../relay/wishes.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const { context: typedContext, typed } = begin(invocation, addConnectFlags)
    const { io } = typedContext
    const wishes = readWishes(typed, io)
    const { browser, ...others } = typedContext.settings
    // `--browser chrome` has said which one runs, and is no program to start.
    const names = 'running' in wishes.browser && browser === wishes.browser.running
    const context = { ...typedContext, settings: names ? others : typedContext.settings }
    const [engine, { makeBatchTools }, { Connector }, { dialEngine }, { openUserBrowser }] = await Promise.all([
      engineAddress(context),
      import('../../../engine/batch-tools.ts'),
      import('../../../engine/relay/connector/connector.ts'),
      import('../../../engine/relay/connector/dial.ts'),
      import('../../../engine/relay/connector/user-browser.ts'),
    ])
    const config = engineConfig(context.settings, io)
    const search = {
      wish: wishes.browser,
      config,
      approveMs: wishes.approveMs,
      tell: (line: string) => note(io, line),
    }
    const { name, policy, tabs, kinds, redact, bodies, maxEventsPerSec, token } = wishes
    const connector = new Connector({
      name,
      wishes: { policy, tabs, kinds, redact, bodies, maxEventsPerSec },
      browser: (signal) => openUserBrowser(search, signal),
      dial: (signal) => dialEngine({ engine, ...(token !== undefined && { token }) }, signal),
      tools: makeBatchTools(config),
      onStatus: statusTeller(io, context.settings.json, wishes),
    })
    await connector.run(io.signal)
    // The browser that it had started was closed.
    if (!io.signal.aborted) return exits.done
    return serviceExit(io)
  },
}

/** The id goes to stdout, once; everything else is for the person who watches. */
function statusTeller(io: Io, json: boolean, { name }: ConnectWishes): (status: ConnectorStatus) => void {
  let told = ''
  return (status) => {
    if (status.state === 'reconnecting') note(io, `the engine is away (${status.cause}); trying again`)
    else if (status.state === 'browser_lost') note(io, 'the browser is gone; waiting for it to come back')
    else if (status.sessionId === told) note(io, 'connected again')
    else {
      told = status.sessionId
      print(io, json ? JSON.stringify({ id: told, name }) : told)
      note(io, `connected; ^C lets the browser go and leaves it as it is`)
    }
  }
}
