/** Evaluates expressions of a page, and frees the page when one of them hangs. */
import type { CDPSession, Locator, Page } from 'playwright'
import type { TypedValue } from '../../core/command.ts'
import { BaxError } from '../../core/errors.ts'
import { isGone } from './playwright-errors.ts'
import { textFunction } from './page-function.ts'
import typedValueScript from './typed-value.page.ts?inline'

const sessions = new WeakMap<Page, Promise<CDPSession>>()

/** Time that a page gets to answer before it counts as busy with the script that has to be cut. */
const answerMs = 250

function protocol(page: Page): Promise<CDPSession> {
  let session = sessions.get(page)
  if (!session) {
    session = page.context().newCDPSession(page)
    session.catch(() => sessions.delete(page))
    sessions.set(page, session)
  }
  return session
}

interface Limits {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** The typed value of an expression in the page's own world; promises are awaited, `await` may be used. */
export async function evaluate(page: Page, expression: string, limits: Limits): Promise<TypedValue> {
  const cdp = await protocol(page)
  return cutAfter(page, limits, async () => {
    let answer = await cdp.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      userGesture: true,
      replMode: true,
    })
    // Like a console, this mode awaits what `await` stands before and leaves a promise that is the value itself.
    if (answer.result.subtype === 'promise' && !answer.exceptionDetails) {
      answer = await cdp.send('Runtime.awaitPromise', { promiseObjectId: answer.result.objectId! })
    }
    const { result, exceptionDetails } = answer
    if (exceptionDetails) throw evaluateFailed(exceptionDetails)
    return result.objectId ? describeObject(cdp, result.objectId) : primitive(result)
  })
}

/** The same with an element as `this`: a function is called with it, another expression or function body evaluated. */
export async function evaluateOn(element: Locator, expression: string, limits: Limits): Promise<TypedValue> {
  const run = (call: OnElement) => cutAfter(element.page(), limits, () => element.evaluate(call, undefined))
  const asValue = `return (${expression.trim().replace(/;+$/, '')}\n)`
  const answer = await run(boundTo(expression, asValue)).catch((error: unknown) => {
    if (!isUnreadable(error)) throw error
    return run(boundTo(expression, expression)).catch(async (again: unknown) => {
      throw isUnreadable(again) ? await syntaxFault(element.page(), asValue) : again
    })
  })
  if ('thrown' in answer) throw new BaxError('evaluate_failed', answer.thrown)
  return answer
}

type OnElement = (element: Element, nothing: undefined) => Promise<TypedValue | { thrown: string }>

/** Text of a page function that holds `body` as source: a page's policy may forbid to evaluate strings. */
function boundTo(expression: string, body: string): OnElement {
  // The line break ends a comment at the body's end.
  const run = `async function () { ${body}\n }`
  const facts = `{ run: ${run}, source: ${JSON.stringify(expression)} }`
  return textFunction(`(element) => { ;${typedValueScript}; return __bax_module.typedOn(element, ${facts}) }`)
}

/** Playwright's words for a function that has no meaning. */
const isUnreadable = (error: unknown): boolean =>
  error instanceof Error && /SyntaxError|not well-serializable/.test(error.message)

async function syntaxFault(page: Page, body: string): Promise<BaxError> {
  const cdp = await protocol(page)
  const { exceptionDetails } = await cdp.send('Runtime.evaluate', { expression: `(async function () { ${body}\n })` })
  return exceptionDetails ? evaluateFailed(exceptionDetails) : new BaxError('evaluate_failed', 'SyntaxError')
}

async function describeObject(cdp: CDPSession, objectId: string): Promise<TypedValue> {
  const { result, exceptionDetails } = await cdp.send('Runtime.callFunctionOn', {
    objectId,
    functionDeclaration: `function () { ;${typedValueScript}; return __bax_module.typedValue(this) }`,
    returnByValue: true,
  })
  if (exceptionDetails) throw evaluateFailed(exceptionDetails)
  await cdp.send('Runtime.releaseObject', { objectId })
  return result.value as TypedValue
}

interface RemoteValue {
  readonly type: string
  readonly subtype?: string
  readonly value?: unknown
  readonly unserializableValue?: string
}

function primitive({ type, subtype, value, unserializableValue }: RemoteValue): TypedValue {
  if (type === 'undefined') return { type: 'undefined', value: null }
  if (subtype === 'null') return { type: 'null', value: null }
  if (type === 'bigint') return { type: 'bigint', value: unserializableValue!.replace(/n$/, '') }
  if (unserializableValue === 'NaN') return { type: 'nan', value: null }
  if (unserializableValue === '-0') return { type: 'number', value: 0 }
  return { type: type as 'string', value: value ?? unserializableValue }
}

interface Thrown {
  readonly text: string
  readonly exception?: { readonly description?: string; readonly value?: unknown }
}

function evaluateFailed({ text, exception }: Thrown): BaxError {
  const message = exception?.description?.split('\n    at ', 1)[0] ?? exception?.value ?? text
  return new BaxError('evaluate_failed', typeof message === 'string' ? message : JSON.stringify(message))
}

/** Runs `work`; when its time is over or the command may not go on, cuts the script that keeps the page busy. */
async function cutAfter<T>(page: Page, { timeoutMs, signal }: Limits, work: () => Promise<T>): Promise<T> {
  const late = new BaxError('timeout', `the evaluation was not done within ${timeoutMs} ms`)
  const running = work()
  let timer: NodeJS.Timeout
  let onAbort: () => void
  const cut = new Promise<typeof hung>((resolve) => {
    onAbort = () => resolve(hung)
    timer = setTimeout(onAbort, timeoutMs)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    const first = await Promise.race([running, cut])
    if (first !== hung) return first
    // The script's own end, whenever it comes, is no longer of interest.
    running.catch(() => {})
    await freePage(page)
    throw signal.aborted ? signal.reason : late
  } finally {
    clearTimeout(timer!)
    signal.removeEventListener('abort', onAbort!)
  }
}

const hung = Symbol('hung')

/** Ends the script that keeps the page's thread busy; leaves a page alone that answers. */
async function freePage(page: Page): Promise<void> {
  try {
    const cdp = await protocol(page)
    if (await answers(cdp)) return
    await cdp.send('Runtime.terminateExecution')
    // A termination that came too late would hit the page's next script: this one takes it.
    await answers(cdp)
  } catch (error) {
    // A page that is gone needs no freeing; everything else is a fault worth seeing.
    if (page.isClosed() || isGone(error)) return
    throw error
  }
}

async function answers(cdp: CDPSession): Promise<boolean> {
  let timer: NodeJS.Timeout
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), answerMs)
  })
  const probe = cdp.send('Runtime.evaluate', { expression: '0' }).then(() => true as const)
  probe.catch(() => {})
  try {
    return await Promise.race([probe, late])
  } finally {
    clearTimeout(timer!)
  }
}
