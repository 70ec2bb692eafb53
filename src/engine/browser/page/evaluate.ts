/** Evaluates expressions in a page, and terminates those that hang. */
import { Script } from 'node:vm'
import type { CDPSession, Page } from 'playwright'
import type { TypedValue } from '../../../core/operation/command.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { terminateAfter, prepareToTerminate, cdpSessionOf, type ScriptLimits } from './hung-script.ts'
import { textFunction } from './page-function.ts'
import typedValueScript from './typed-value.page.ts?inline'

/**
 * Evaluates an expression in the page's main world. Awaits promises and allows `await`.
 * @param context unique ID of the context to evaluate it in; by default that of the current document
 */
export async function evaluate(
  page: Page,
  expression: string,
  limits: ScriptLimits,
  context?: string,
): Promise<TypedValue> {
  const cdp = await cdpSessionOf(page)
  const run = (source: string) => runExpression(cdp, source, context)
  return terminateAfter(page, limits, async (over) => {
    // `{a: 1}` should be an object, but parses as a block with a label.
    const code = expression.trim()
    const braced = code.startsWith('{') && code.endsWith('}')
    const asObject = braced ? await run(`(${expression}\n)`) : undefined
    over.throwIfAborted()
    const isNoObject = !asObject || asObject.exceptionDetails?.exception?.className === 'SyntaxError'
    const { result, exceptionDetails } = isNoObject ? await run(expression) : asObject
    if (exceptionDetails) throw evaluateFailed(exceptionDetails)
    return result.objectId ? describeObject(cdp, result.objectId) : primitive(result)
  })
}

async function runExpression(cdp: CDPSession, expression: string, context: string | undefined) {
  const target = context !== undefined && { uniqueContextId: context }
  const options = { ...target, awaitPromise: true, userGesture: true, replMode: true }
  const answer = await cdp.send('Runtime.evaluate', { expression, ...options })
  // Like the console, this mode handles `await` in the expression, but does not await a promise that is its value.
  if (answer.result.subtype !== 'promise' || answer.exceptionDetails) return answer
  return cdp.send('Runtime.awaitPromise', { promiseObjectId: answer.result.objectId! })
}

/** Evaluates an expression or function body with an element as `this`; calls a function with the element. */
export async function evaluateOn(
  element: Evaluable,
  page: Page,
  expression: string,
  limits: ScriptLimits,
): Promise<TypedValue> {
  await prepareToTerminate(page)
  const run = (call: OnElement) =>
    terminateAfter(page, limits, async (over) => {
      // Finding the element may take longer than the limit: its script would run, and hang, after the answer.
      const handle = 'elementHandle' in element ? await element.elementHandle() : element
      over.throwIfAborted()
      return handle.evaluate(call, undefined)
    })
  const code = expression.trim()
  let end = code.length
  while (code[end - 1] === ';') end--
  const asValue = `return (${code.slice(0, end)}\n)`
  const answer = await run(boundTo(expression, asValue)).catch((error: unknown) => {
    if (!isSyntaxError(error)) throw error
    return run(boundTo(expression, expression)).catch((again: unknown) => {
      throw isSyntaxError(again) ? syntaxError(asValue) : again
    })
  })
  if ('thrown' in answer) throw new BaxError('evaluate_failed', answer.thrown)
  return answer
}

/** An element that was found before, or one that is found when it is used. */
interface Found {
  evaluate(call: OnElement, nothing: undefined): Promise<Awaited<ReturnType<OnElement>>>
}
type Evaluable = Found | { elementHandle(): Promise<Found> }

type OnElement = (element: Element, nothing: undefined) => Promise<TypedValue | { thrown: string }>

/** Builds a page function with `body` as source, since a page's CSP may forbid evaluating strings. */
function boundTo(expression: string, body: string): OnElement {
  // The line break closes a comment at the end of the body.
  const run = `async function () { ${body}\n }`
  const facts = `{ run: ${run}, source: ${JSON.stringify(expression)} }`
  return textFunction(`(element) => { ;${typedValueScript}; return __bax_module.typedOn(element, ${facts}) }`)
}

/** Recognizes Playwright's errors for a function that does not parse. */
const isSyntaxError = (error: unknown): boolean =>
  error instanceof Error && /SyntaxError|not well-serializable/.test(error.message)

/** Compiles the body of a function that does not parse, for the message; nothing of it runs, neither here nor in a page. */
function syntaxError(body: string): BaxError {
  try {
    void new Script(`(async function () { ${body}\n })`)
  } catch (error) {
    return new BaxError('evaluate_failed', String(error))
  }
  return new BaxError('evaluate_failed', 'SyntaxError')
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

type Evaluated = Awaited<ReturnType<typeof runExpression>>

function primitive({ type, subtype, value, unserializableValue }: Evaluated['result']): TypedValue {
  if (type === 'undefined') return { type: 'undefined', value: null }
  if (subtype === 'null') return { type: 'null', value: null }
  if (type === 'bigint') return { type: 'bigint', value: unserializableValue!.replace(/n$/, '') }
  if (unserializableValue === 'NaN') return { type: 'nan', value: null }
  if (unserializableValue === '-0') return { type: 'number', value: 0 }
  return { type: type as 'string', value: value ?? unserializableValue }
}

function evaluateFailed({ text, exception }: NonNullable<Evaluated['exceptionDetails']>): BaxError {
  const message = exception?.description?.split('\n    at ', 1)[0] ?? exception?.value ?? text
  return new BaxError('evaluate_failed', typeof message === 'string' ? message : JSON.stringify(message))
}
