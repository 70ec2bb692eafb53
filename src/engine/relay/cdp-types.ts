/** Types of the DevTools protocol, which Playwright declares but does not export by name. */
import type { CDPSession } from 'playwright'

declare const session: CDPSession

interface Overloads<Name> {
  (event: Name, listener: never): unknown
  (...others: never): unknown
  (...others: never): unknown
}

type EventName = CDPSession['once'] extends Overloads<infer Name> ? Exclude<Name, symbol> : never

/** Parameters of an event. */
export type EventParams<Name extends EventName> = Parameters<Parameters<typeof session.once<Name>>[1]>[0]

/** Result of a command. */
export type CommandResult<Name extends Parameters<CDPSession['send']>[0]> = Awaited<
  ReturnType<typeof session.send<Name>>
>

/** Functions by the event that they read. */
export type Readers<Result> = { readonly [Name in EventName]?: (params: EventParams<Name>) => Result }

/** Calls the reader of an event, if there is one. */
export function readEvent<Result>(readers: Readers<Result>, method: string, params: object): Result | undefined {
  const reader = readers[method as EventName] as ((params: object) => Result) | undefined
  return reader?.(params)
}
