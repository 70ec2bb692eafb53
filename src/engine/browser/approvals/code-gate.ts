/** Holds code of the caller until a person approves it, whichever command runs it. */
import type { Frame, Page } from 'playwright'
import type { CommandContext } from '../../../core/operation/command.ts'
import { isCodeUrl } from '../../../core/net/urls.ts'
import type { RouteRule } from '../../../core/operation/page-control.ts'
import { evaluate, evaluateOn } from '../page/evaluate.ts'
import { mainContextOf } from '../observe/worlds.ts'
import type { ApprovedDocument, GateFacts } from '../ports/approvals.ts'
import { pageLeft } from './shown-document.ts'

/** The gate of one command. */
class CodeGate {
  readonly #facts: GateFacts
  #approved: ApprovedDocument | undefined

  constructor(facts: GateFacts) {
    this.#facts = facts
  }

  /**
   * Waits for the approval of code that is about to run in a frame. A command that runs its code again is not asked
   * again, as long as the frame shows the same document.
   */
  async pass(code: string, frame: Frame): Promise<void> {
    if (this.#approved) return this.#approved.assertShownIn(frame)
    const { approvals, cause, signal, clock } = this.#facts
    this.#approved = await clock.pauseDuring(() => approvals.askForCode(cause, code, frame, [signal]))
  }
}

/** The parts of a context through which commands bring code into pages. */
type Doors = Pick<CommandContext, 'approveCode' | 'evaluate' | 'evaluateOn' | 'network' | 'initScripts' | 'checkUrl'>

/** Error of the first call, before any code runs. */
const noContext = /Runtime\.evaluate\): (?:uniqueContextId not found|cannot find context)/i

/** Puts a gate in front of the parts of a context through which code enters pages. */
export function behindGate<Context extends Doors>(open: Context, page: Page, facts: GateFacts): Context {
  const gate = new CodeGate(facts)
  const pass = (code: string) => gate.pass(code, page.mainFrame())
  const { signal } = facts
  // Bound to the current document, so that the code never runs in the next one.
  let found: Promise<string> | undefined
  const context = () => (found ??= mainContextOf(page))
  const doors: Doors = {
    approveCode: pass,
    async evaluate(expression, { timeoutMs }) {
      const document = await context()
      await pass(expression)
      return evaluate(page, expression, { timeoutMs, signal }, document).catch((error: unknown) => {
        throw noContext.test(String(error)) ? pageLeft() : error
      })
    },
    async evaluateOn(element, expression, { timeoutMs }) {
      // A handle is bound to its document, too.
      const handle = await element.elementHandle({ timeout: timeoutMs })
      try {
        await gate.pass(expression, (await handle.ownerFrame())!)
        return await evaluateOn(handle, page, expression, { timeoutMs, signal })
      } finally {
        // Fails when the document is gone, and the handle with it.
        await handle.dispose().catch(() => {})
      }
    },
    network: {
      ...open.network,
      async addRoute(rule) {
        const answer = answerIn(rule)
        if (answer !== undefined) await pass(answer)
        return open.network.addRoute(rule)
      },
    },
    initScripts: {
      async add(source) {
        await pass(source)
        return open.initScripts.add(source)
      },
      remove: (id) => open.initScripts.remove(id),
    },
    async checkUrl(text) {
      const url = await open.checkUrl(text)
      if (isCodeUrl(url)) await pass(url)
      return url
    },
  }
  return { ...open, ...doors }
}

/**
 * Returns the answer of a route as text. It runs with the rights of the site, and headers can bring code, too: a redirect
 * leads to a script elsewhere. Undefined for a rule that aborts or changes requests, or answers with a status alone.
 */
function answerIn({ url, method, action }: RouteRule): string | undefined {
  if (action.kind !== 'fulfil') return undefined
  const headers = Object.entries(action.headers)
  const hasHeaders = headers.some(([name]) => name.toLowerCase() !== 'content-type')
  if (!hasHeaders && action.body.length === 0) return undefined
  const head = [`${method ? `${method} ` : ''}${url}`, `answer: ${action.status}`]
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  return [...head, ...lines, '', new TextDecoder().decode(action.body)].join('\n')
}
