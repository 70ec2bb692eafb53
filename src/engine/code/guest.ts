/**
 * The globals of the code. These functions run inside of the sandbox, as texts: they refer to nothing outside of
 * themselves. The code may replace everything that it can reach, which changes nothing outside of the sandbox.
 */

/** Functions of the sandbox's host. All values are texts and numbers. */
interface GuestHost {
  call(id: number, name: string, args: string, stack: string): void
  print(text: string): void
  /** Returns the message about a function that does not exist. */
  unknown(name: string): string
  end(succeeded: boolean, text: string): void
}

/** A thrown value as the host reads it. */
export interface Thrown {
  readonly name: string
  readonly message: string
  readonly stack: string
  /** Set for failures of calls. */
  readonly code?: string
  readonly hint?: string
  readonly details?: unknown
}

interface Call extends Promise<unknown> {
  /** Whether the code uses the promise. */
  readonly isUsed: boolean
}

interface Entry {
  readonly call: Call
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  /** Its stack has the place of the call. */
  readonly site: Error
}

interface Classes {
  readonly BaxError: new (thrown: Omit<Thrown, 'name' | 'stack'>, site: Error) => Error
  readonly Call: new (start: (resolve: Entry['resolve'], reject: Entry['reject']) => void) => Call
}

/** Returns the classes of failures and of the promises of calls. */
function makeClasses(): Classes {
  class BaxError extends Error {
    readonly code: string | undefined
    readonly hint: string | undefined
    readonly details: unknown
    constructor({ code, message, hint, details }: Omit<Thrown, 'name' | 'stack'>, site: Error) {
      super(message)
      this.name = 'BaxError'
      this.code = code
      this.hint = hint
      this.details = details
      // The call is at fault, and not the place that reports its failure.
      this.stack = site.stack!
    }
  }
  class UsedPromise extends Promise<unknown> {
    isUsed = false
    // oxlint-disable-next-line unicorn/no-thenable -- a subclass of Promise
    override then(...listeners: never[]): never {
      this.isUsed = true
      return super.then(...listeners) as never
    }
    static override get [Symbol.species]() {
      return Promise
    }
  }
  return { BaxError, Call: UsedPromise }
}

interface Texts {
  /** Returns a value as the console shows it. */
  shown(value: unknown): string
  /** Returns a thrown value as JSON. */
  describe(error: unknown): string
  /** Reports the end of the code with a value. */
  end(value: unknown): void
}

function makeTexts(host: GuestHost, { BaxError }: Classes): Texts {
  const { stringify } = JSON
  const shown = (value: unknown): string => {
    if (typeof value === 'string') return value
    if (value instanceof Error) return `${value.name}: ${value.message}`
    try {
      return stringify(value) ?? String(value)
    } catch {
      return String(value)
    }
  }
  const failure = (message: string) => stringify({ name: '', message, stack: '' })
  const describe = (error: unknown): string => {
    if (!(error instanceof Error)) return failure(shown(error))
    const { name, message, stack } = error
    const { code, hint, details } = error as Partial<Thrown>
    const more = error instanceof BaxError ? { code, hint, details } : {}
    return stringify({ name: `${name}`, message: `${message}`, stack: `${stack}`, ...more })
  }
  const end = (value: unknown): void => {
    let text: string | undefined
    try {
      text = value === undefined ? 'null' : stringify(value)
      if (text === undefined) throw new TypeError(`it is a ${typeof value}`)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return host.end(false, failure(`the returned value cannot be written as JSON: ${reason}`))
    }
    host.end(true, text)
  }
  return { shown, describe, end }
}

interface Calls {
  functionNamed(name: string): (...given: unknown[]) => Call
  /** Ends a call with its value as JSON, or its failure. */
  settle(id: number, succeeded: boolean, text: string | undefined): void
  /** Returns the first failure of a call whose promise the code did not use. */
  unused(): Error | undefined
}

function makeCalls(host: GuestHost, { BaxError, Call }: Classes): Calls {
  const { parse, stringify } = JSON
  const pending = new Map<number, Entry>()
  const failed: { readonly call: Call; readonly error: Error }[] = []
  let last = 0
  const fail = ({ call, reject }: Entry, error: Error): void => {
    failed.push({ call, error })
    reject(error)
  }
  const withoutFunctions = (_key: string, value: unknown): unknown => {
    if (typeof value === 'function') throw new TypeError('a function cannot be passed to bax; pass code as text')
    return value
  }
  return {
    functionNamed:
      (name) =>
      (...given) => {
        const site = new Error(name)
        const id = (last += 1)
        let rest!: Omit<Entry, 'call'>
        const call = new Call((resolve, reject) => (rest = { resolve, reject, site }))
        pending.set(id, { ...rest, call })
        try {
          host.call(id, name, stringify(given, withoutFunctions), site.stack!)
        } catch (error) {
          pending.delete(id)
          fail({ ...rest, call }, error as Error)
        }
        return call
      },
    settle(id, succeeded, text) {
      const entry = pending.get(id)!
      pending.delete(id)
      const value = text === undefined ? undefined : (parse(text) as never)
      if (succeeded) entry.resolve(value)
      else fail(entry, new BaxError(value!, entry.site))
    },
    unused: () => failed.find(({ call }) => !call.isUsed)?.error,
  }
}

interface Guest extends Pick<Calls, 'settle'> {
  /** Reports the outcome of the code. */
  watch(outcome: Promise<unknown>): void
  /** Returns the first failure of a call whose promise the code did not use, as JSON. */
  unused(): string | undefined
}

interface Parts {
  readonly makeClasses: typeof makeClasses
  readonly makeTexts: typeof makeTexts
  readonly makeCalls: typeof makeCalls
}

/** Sets the globals. `parts` are the other functions of this file. */
function setUp(host: GuestHost, names: readonly string[], args: string, parts: Parts): Guest {
  const { then } = Promise.prototype
  const classes = parts.makeClasses()
  const { shown, describe, end } = parts.makeTexts(host, classes)
  const { functionNamed, settle, unused } = parts.makeCalls(host, classes)
  const functions = Object.fromEntries(names.map((name) => [name, functionNamed(name)]))
  const bax = new Proxy(Object.freeze(Object.assign(Object.create(null) as object, functions)), {
    get: (target, name) => {
      const found: unknown = Reflect.get(target, name)
      // A promise that resolves with `bax` looks for `then`, and JSON for `toJSON`.
      if (found !== undefined || typeof name === 'symbol' || name === 'then' || name === 'toJSON') return found
      throw new TypeError(host.unknown(name))
    },
  })
  const print = (...values: unknown[]): void => host.print(values.map(shown).join(' '))
  const console = { log: print, info: print, debug: print, warn: print, error: print }
  Object.assign(globalThis, { bax, console, args: JSON.parse(args) as unknown })
  return {
    settle,
    watch: (outcome) => void then.call(outcome, end, (error) => host.end(false, describe(error))),
    unused() {
      const error = unused()
      return error && describe(error)
    },
  }
}

/** Text of a function of the host, the names of the functions and `args`, which sets the globals. */
export const guestSource = `((host, names, args) => (${String(setUp)})(host, names, args, {
  makeClasses: ${String(makeClasses)},
  makeTexts: ${String(makeTexts)},
  makeCalls: ${String(makeCalls)},
}))`
