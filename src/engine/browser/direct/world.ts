/** The isolated world of a page's main document in which direct actions run. */
import type { Page } from 'playwright'
import { withDeadline } from '../../../core/process/deadline.ts'
import { oncePer } from '../../../core/once-per.ts'
import { isGone } from '../page/playwright-errors.ts'
import { cdpSessionOf } from '../page/hung-script.ts'
import { watchInput, worldName } from '../input/delivery.ts'
import { type Confirmation, type DirectAnswer, type DirectRequest, type Verdict, verdictBinding } from './request.ts'
import { ownSessionOf, type OwnSession, type Session } from '../page/internals.ts'
import type { PlainSelector } from './plain-selector.ts'
import { Unclear } from '../page/unclear.ts'

/** Returns the world of a page. */
export const directWorldOf = oncePer((page: Page) => new DirectWorld(page))

const noObject =
  /Could not find object|Cannot find context|uniqueContextId not found|context was destroyed|Inspected target navigated/i

class DirectWorld {
  readonly #page: Page
  /** The script in the current document: its name cannot belong to another document, unlike the number of a context. */
  #script: Promise<Opened> | undefined
  /** The last verdict, reported before the page handled the input. */
  #reported: string | undefined
  #onReport = () => {}
  #frameId: string | undefined
  #isListening = false

  constructor(page: Page) {
    this.#page = page
    const own = ownSessionOf(page)
    if (own) this.#follow(own)
    else
      page.on('framenavigated', (frame) => {
        if (frame === page.mainFrame()) this.#keep(this.#open())
      })
  }

  /** Notices the world of each new document, which then takes no call to find. */
  #follow(session: OwnSession): void {
    session.on('Runtime.executionContextCreated', ({ context: { id, name, uniqueId, auxData } }) => {
      if (name !== worldName || (auxData as { frameId?: string } | undefined)?.frameId !== session.frameId) return
      const opened = { session, contextId: id, target: { uniqueContextId: uniqueId } }
      this.#keep(this.#listen().then(() => opened))
    })
  }

  #keep(script: Promise<Opened>): void {
    this.#script = script
    // The next action opens it again.
    script.catch(() => {
      if (this.#script === script) this.#script = undefined
    })
  }

  /** Runs a request, with the text of a function of the element and its input. */
  async run(request: DirectRequest, work?: string, input?: unknown): Promise<DirectAnswer> {
    const script = this.#script
    try {
      return await this.runAgain(request, work, input)
    } catch (error) {
      if (!noObject.test(String(error))) throw error
      // The document has been replaced.
      if (this.#script === script) this.#script = undefined
      return this.runAgain(request, work, input)
    }
  }

  /** Runs a request that belongs to the current document. */
  runAgain(request: DirectRequest, work?: string, input?: unknown): Promise<DirectAnswer> {
    return this.#call<DirectAnswer>(declarationOf(work), [{ value: request }, { value: input }])
  }

  /** Runs a request on the node with this number. @throws Error when its document is gone */
  async runOn(node: number, request: DirectRequest, work?: string, input?: unknown): Promise<DirectAnswer> {
    const { session, contextId: executionContextId } = await this.#opened()
    const { object } = await session.send('DOM.resolveNode', { backendNodeId: node, executionContextId })
    const { objectId } = object as { objectId: string }
    try {
      return await this.#call<DirectAnswer>(declarationOf(work), [{ value: request }, { value: input }, { objectId }])
    } finally {
      session.send('Runtime.releaseObject', { objectId }).catch(() => {})
    }
  }

  /** Runs the text of a function on all matches of a selector; returns null when they are unclear. */
  runOnAll<T>(selector: PlainSelector, work: string, options: unknown): Promise<T | null> {
    const declaration = `function (selector, options) {
      const all = baxDirect.findAll(selector)
      return all && (${work})(all, options)
    }`
    return this.#call<T | null>(declaration, [{ value: selector }, { value: options }])
  }

  /** Ends the watch of an action. */
  confirm(id: number): Promise<Confirmation> {
    return this.#call<Confirmation>('function (id) { return baxDirect.confirm(id) }', [{ value: id }])
  }

  /** Waits for the verdict that the document reports on an action, also when it is gone by now; null without one. */
  async reportedVerdict(id: number, ms: number): Promise<Verdict | null> {
    const verdict = new Promise<Verdict>((resolve) => {
      this.#onReport = () => {
        const [of, seen] = this.#reported?.split(' ') ?? []
        if (of === String(id)) resolve(seen as Verdict)
      }
      this.#onReport()
    })
    return withDeadline(verdict, { ms, value: null })
  }

  #opened(): Promise<Opened> {
    return (this.#script ??= this.#open())
  }

  async #call<T>(functionDeclaration: string, values: readonly CallArgument[]): Promise<T> {
    const { session, target } = await this.#opened()
    const { result, exceptionDetails } = await session.send('Runtime.callFunctionOn', {
      ...target,
      functionDeclaration,
      arguments: [...values],
      returnByValue: true,
      awaitPromise: true,
    })
    if (exceptionDetails) throw new Unclear(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value as T
  }

  async #open(): Promise<Opened> {
    const page = this.#page
    const session = await cdpSessionOf(page)
    if (this.#frameId === undefined) {
      await watchInput(page)
      const { frameTree } = await session.send('Page.getFrameTree')
      this.#frameId = frameTree.frame.id
    }
    // Returns the existing world of this name, where the script was installed at the start of the document.
    const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
      frameId: this.#frameId,
      worldName,
    })
    const expression = 'globalThis.baxDirect'
    const [{ result }] = await Promise.all([
      session.send('Runtime.evaluate', { contextId, expression }),
      this.#listen(),
    ])
    if (!result.objectId) throw new Unclear('the script is not installed')
    return { session, contextId, target: { objectId: result.objectId } }
  }

  /** Lets the script of the current document report verdicts; not on Playwright's session, which expects its own calls. */
  async #listen(): Promise<void> {
    const session = await cdpSessionOf(this.#page)
    if (!this.#isListening) {
      this.#isListening = true
      session.on('Runtime.bindingCalled', ({ name, payload }) => {
        if (name !== verdictBinding) return
        this.#reported = payload
        this.#onReport()
      })
    }
    await session.send('Runtime.addBinding', { name: verdictBinding, executionContextName: worldName })
  }
}

type CallArgument = { readonly value: unknown } | { readonly objectId: string }

const declarationOf = (work?: string) =>
  `function (request, input, given) { return baxDirect.run(request, ${work ? `(${work})` : 'undefined'}, input, given) }`

interface Opened {
  readonly session: Session
  /** Number of the world in its renderer, for calls that take no name. */
  readonly contextId: number
  /** The document: by an object of it, or by the unique ID of its context. */
  readonly target: { readonly objectId: string } | { readonly uniqueContextId: string }
}

/** Returns whether a call failed because its document or page is gone. */
export const isWorldGone = (error: unknown): boolean => isGone(error) || noObject.test(String(error))
