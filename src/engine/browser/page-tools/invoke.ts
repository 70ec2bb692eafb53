/** Calls a tool in its document, and finds out how the call has ended. */
import type { CDPSession, Page } from 'playwright'
import type { PageToolCall } from '../../../core/operation/page-tools.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { type World, WorldGone } from '../observe/worlds.ts'
import { innerSession } from '../page/internals.ts'
import { terminateAfter } from '../page/hung-script.ts'
import { isGone } from '../page/playwright-errors.ts'
import type { Ending } from './tools.page.ts'
import toolsScript from './tools.page.ts?inline'

export type CallEnding = Ending | { readonly kind: 'page_left' }

/** Time beyond the timeout for the page to report that it has stopped. */
const graceMs = 500

interface Invocation extends Pick<PageToolCall, 'name' | 'arguments' | 'timeoutMs' | 'maxChars'> {
  readonly signal: AbortSignal
}

/** Calls a tool. A page that keeps its thread busy is terminated after the timeout. @throws BaxError */
export async function invoke(page: Page, world: World, call: Invocation): Promise<CallEnding> {
  const { name, arguments: input, timeoutMs, maxChars, signal } = call
  const watched = await watchInvocation(world, name)
  const { session } = world
  // The page is told when the caller no longer waits.
  const onAbort = () => {
    const { invocationId } = watched
    if (invocationId !== undefined) ignoreGone(session.send('WebMCP.cancelInvocation', { invocationId }))
  }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    const run = () => world.call<Ending>(toolsScript, 'callTool', { name, input, timeoutMs, maxChars })
    const ending = await terminateAfter(page, { timeoutMs: timeoutMs + graceMs, signal }, run)
    return ending.kind === 'failed' ? { kind: 'failed', message: watched.exception ?? ending.message } : ending
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BaxError && error.code === 'timeout') return { kind: 'late' }
    // Without an invocation, the page has left before the tool ran.
    if (error instanceof WorldGone && watched.invocationId !== undefined) return { kind: 'page_left' }
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
    watched.release()
  }
}

/** Follows the next invocation of a tool. The browser reports the exceptions of tools here only. */
async function watchInvocation({ session: outer, frame }: World, name: string) {
  // Its events come before the answer of the call, which takes the same way.
  const session = innerSession(outer)
  const seen: { invocationId?: string; exception?: string } = {}
  type Events = { [Name in 'WebMCP.toolInvoked' | 'WebMCP.toolResponded']: Parameters<typeof session.on<Name>>[1] }
  const onInvoked: Events['WebMCP.toolInvoked'] = ({ frameId, toolName, invocationId }) => {
    if (frameId === frame && toolName === name) seen.invocationId ??= invocationId
  }
  const onResponded: Events['WebMCP.toolResponded'] = ({ invocationId, exception }) => {
    if (invocationId !== seen.invocationId || !exception) return
    seen.exception = exception.description?.split('\n    at ', 1)[0] ?? String(exception.value ?? exception.type)
  }
  session.on('WebMCP.toolInvoked', onInvoked).on('WebMCP.toolResponded', onResponded)
  await session.send('WebMCP.enable')
  return Object.assign(seen, {
    release() {
      session.off('WebMCP.toolInvoked', onInvoked).off('WebMCP.toolResponded', onResponded)
      ignoreGone(session.send('WebMCP.disable'))
    },
  })
}

/** Ignores that the page has gone meanwhile. */
function ignoreGone(sent: ReturnType<CDPSession['send']>): void {
  sent.catch((error: unknown) => {
    if (!isGone(error)) throw error
  })
}
