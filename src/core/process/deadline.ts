/** Deadlines: runs work with a timeout, unless it is aborted. */
import { BaxError } from '../errors/errors.ts'

interface Deadline<Late> {
  /** Time for the work, in milliseconds; unlimited when missing. */
  readonly ms?: number
  /** Error when the time passes: the message of a BaxError `timeout`, or a function that creates the error. */
  readonly error?: string | (() => Error)
  /** Value when the time passes; there is no error then. */
  readonly value?: Late
  /** Signals that abort the work. */
  readonly signal?: AbortSignal | readonly AbortSignal[]
  /** Lets the process exit while the timer runs. */
  readonly unref?: boolean
  /**
   * Waits until the work ends by itself after its signal was aborted, and keeps its outcome; only an error after the
   * timeout is replaced. By default the work is abandoned at once.
   */
  readonly cooperative?: boolean
}

/** Reason of signals that are aborted after their work, created once: its stack costs more than all other steps. */
let ended: DOMException | undefined

/**
 * Runs work until it ends, its time passes or a signal is aborted, whichever comes first. Work that is a function
 * receives one signal for all of this; unless `cooperative`, that signal is also aborted after the end of the work.
 * Later rejections of abandoned work are ignored.
 * @throws the error of the work, the reason of the aborted signal, or the error of the timeout.
 */
export async function withDeadline<T, Late = never>(
  work: Promise<T> | ((signal: AbortSignal) => Promise<T>),
  deadline: Deadline<Late>,
): Promise<T | Late> {
  const { ms, cooperative = false } = deadline
  // Joined by listeners: Node 20 keeps every signal of `AbortSignal.any` for as long as one of its sources lives
  // (https://github.com/nodejs/node/issues/55351).
  const sources = [deadline.signal ?? []].flat()
  const over = typeof work === 'function' ? new AbortController() : undefined
  let timeout: Error | undefined
  let abandon!: (reason: unknown) => void
  const abandoned = new Promise<never>((_, reject) => (abandon = reject))
  // Not part of a race when the work is cooperative or throws synchronously.
  abandoned.catch(() => {})
  let stopped: unknown
  const stop = (reason: unknown) => {
    stopped ??= reason
    abandon(reason)
    over?.abort(reason)
  }
  const onAbort = ({ target }: Event) => stop((target as AbortSignal).reason)
  for (const source of sources) {
    if (source.aborted) stop(source.reason)
    else source.addEventListener('abort', onAbort, { once: true })
  }
  const timer = ms === undefined ? undefined : setTimeout(() => stop((timeout = timeoutError(deadline))), ms)
  if (deadline.unref) timer?.unref()
  try {
    if (!cooperative) over?.signal.throwIfAborted()
    const running = typeof work === 'function' ? work(over!.signal) : work
    return await (cooperative ? running : Promise.race([abandoned, running]))
  } catch (error) {
    if (!timeout || (cooperative ? stopped : error) !== timeout) throw error
    if ('value' in deadline) return deadline.value!
    throw timeout
  } finally {
    clearTimeout(timer)
    for (const source of sources) source.removeEventListener('abort', onAbort)
    if (!cooperative) over?.abort((ended ??= new DOMException('the work has ended', 'AbortError')))
  }
}

function timeoutError({ ms, error = `not done within ${ms} ms` }: Deadline<unknown>): Error {
  return typeof error === 'string' ? new BaxError('timeout', error) : error()
}
