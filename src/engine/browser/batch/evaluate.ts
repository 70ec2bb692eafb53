/** Evaluates expressions of a page, and frees the page when one of them hangs. */
import type { CDPSession, Locator, Page } from 'playwright'
import type { TypedValue } from '../../../core/operation/command.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { cutAfter, prepareToCut, protocol, type ScriptLimits } from '../tabs/hung-script.ts'
import { textFunction } from './page-function.ts'
import typedValueScript from './typed-value.page.ts?inline'

/** The typed value of an expression in the page's own world; promises are awaited, `await` may be used. */
export async function evaluate(page: Page, expression: string, limits: ScriptLimits): Promise<TypedValue> {
  const cdp = await protocol(page)
  return cutAfter(page, limits, async () => {
    // `{a: 1}` is meant as an object; as it stands it is a block with a label.
    const braced = /^\s*\{[^]*\}\s*$/.test(expression)
    const asObject = braced ? await evaluated(cdp, `(${expression}\n)`) : undefined
    const unread = !asObject || asObject.exceptionDetails?.exception?.className === 'SyntaxError'
    const { result, exceptionDetails } = unread ? await evaluated(cdp, expression) : asObject
    if (exceptionDetails) throw evaluateFailed(exceptionDetails)
    return result.objectId ? describeObject(cdp, result.objectId) : primitive(result)
  })
}

async function evaluated(cdp: CDPSession, expression: string) {
  const answer = await cdp.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    userGesture: true,
    replMode: true,
  })
  // Like a console, this mode awaits what `await` stands before and leaves a promise that is the value itself.
  if (answer.result.subtype !== 'promise' || answer.exceptionDetails) return answer
  return cdp.send('Runtime.awaitPromise', { promiseObjectId: answer.result.objectId! })
}

/** The same with an element as `this`: a function is called with it, another expression or function body evaluated. */
export async function evaluateOn(element: Locator, expression: string, limits: ScriptLimits): Promise<TypedValue> {
  await prepareToCut(element.page())
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
