/** Runs code in QuickJS, on the thread of its worker. Its memory ends with the thread. */
import variant from '@jitl/quickjs-singlefile-mjs-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
} from 'quickjs-emscripten-core'
import { didYouMean } from '../../core/errors/suggest.ts'
import { limits } from '../../core/limits/limits.ts'
import { failureOf, fileName, noMemory, positionIn, timeoutFailure, wrapped } from './failures.ts'
import { guestSource, type Thrown } from './guest.ts'
import type { CodeEnd, CodeFailure, CodeTask, Port, ToThread } from './messages.ts'

const pageBytes = 64 * 1024
const initialPages = 256
const unknown: Thrown = { name: '', message: 'the interpreter failed', stack: '' }

/** Runs code, and reports its calls, its output and its end through the port. */
export async function serveCode(port: Port, task: CodeTask): Promise<void> {
  // The limit of QuickJS itself does not count what was allocated.
  const maximum = Math.floor((task.memoryMb * 1024 * 1024) / pageBytes)
  const wasmMemory = new WebAssembly.Memory({ initial: initialPages, maximum })
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory }))
  new Sandbox(quickjs.newRuntime(), port, task, wasmMemory).start()
}

interface PendingCall {
  readonly name: string
  readonly stack: string
  /** Characters of its arguments. */
  readonly chars: number
}

class Sandbox {
  readonly #runtime: QuickJSRuntime
  readonly #vm: QuickJSContext
  readonly #port: Port
  readonly #task: CodeTask
  readonly #memory: WebAssembly.Memory
  readonly #deadline: number
  readonly #pending = new Map<number, PendingCall>()
  #calls = 0
  #pendingChars = 0
  #printed = 0
  /** Failure that no code can catch. */
  #fatal: CodeFailure | undefined
  #end: CodeEnd | undefined
  #hasEnded = false
  #isInterrupted = false
  #settle!: QuickJSHandle
  #unused!: QuickJSHandle

  constructor(runtime: QuickJSRuntime, port: Port, task: CodeTask, memory: WebAssembly.Memory) {
    this.#memory = memory
    this.#runtime = runtime
    this.#port = port
    this.#task = task
    this.#deadline = performance.now() + task.timeoutMs
    runtime.setMaxStackSize(limits.code.stackBytes)
    runtime.setInterruptHandler(() => this.#mustStop())
    this.#vm = runtime.newContext()
  }

  /** Interrupts the code for good, except to report where it was. The engine ends this thread soon after that. */
  #mustStop(): boolean {
    if (this.#fatal === undefined && !this.#isLate()) return false
    if (this.#isInterrupted) return performance.now() > this.#deadline + limits.code.graceMs / 2
    return (this.#isInterrupted = true)
  }

  start(): void {
    this.#port.on('message', (message) => this.#receive(message))
    const timer = setTimeout(
      () => this.#finish(timeoutFailure(this.#task.timeoutMs, this.#oldest())),
      this.#task.timeoutMs,
    )
    timer.unref()
    this.#protect(() => {
      const guest = this.#openGuest()
      const outcome = this.#vm.unwrapResult(this.#vm.evalCode(wrapped(this.#task.code), fileName))
      this.#vm.unwrapResult(this.#vm.callFunction(this.#vm.getProp(guest, 'watch'), guest, outcome)).dispose()
    })
    this.#advance()
  }

  /** Sets the globals of the code; returns those that the host calls. */
  #openGuest(): QuickJSHandle {
    const vm = this.#vm
    const host = vm.newObject()
    const add = (name: string, work: (...values: QuickJSHandle[]) => QuickJSHandle | void) =>
      vm.setProp(host, name, vm.newFunction(name, work))
    add('call', (id, name, args, stack) =>
      this.#call(vm.getNumber(id!), vm.getString(name!), vm.getString(args!), vm.getString(stack!)),
    )
    add('print', (text) => this.#print(vm.getString(text!)))
    add('unknown', (name) => vm.newString(this.#unknown(vm.getString(name!))))
    add('end', (succeeded, text) => this.#reportEnd(vm.dump(succeeded!) === true, vm.getString(text!)))
    const { functions, args } = this.#task
    const open = vm.unwrapResult(vm.evalCode(guestSource, 'bax.js'))
    const names = vm.unwrapResult(vm.evalCode(JSON.stringify(functions), 'bax.js'))
    const guest = vm.unwrapResult(vm.callFunction(open, vm.undefined, host, names, vm.newString(args)))
    this.#settle = vm.getProp(guest, 'settle')
    this.#unused = vm.getProp(guest, 'unused')
    return guest
  }

  #call(id: number, name: string, args: string, stack: string): void {
    const { maxCalls, memoryMb } = this.#task
    if (this.#calls >= maxCalls) return this.#exceed(`the code may make ${maxCalls} calls`, 'max_calls', stack)
    // The engine holds the arguments until their calls are done: two bytes a character, and their values as much again.
    const most = (memoryMb * 1024 * 1024) / 4
    if (this.#pendingChars + args.length > most)
      return this.#exceed(`the arguments of the pending calls have more than ${most} characters`, 'memory_mb', stack)
    this.#calls += 1
    this.#pendingChars += args.length
    this.#pending.set(id, { name, stack, chars: args.length })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
    this.#port.postMessage({ type: 'call', id, name, args })
  }

  #print(text: string): void {
    const { maxOutputChars } = this.#task
    this.#printed += text.length + 1
    if (this.#printed > maxOutputChars)
      return this.#exceed(`the code may print ${maxOutputChars} characters`, 'max_output_chars')
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
    this.#port.postMessage({ type: 'print', text })
  }

  #unknown(name: string): string {
    return `bax has no function ${JSON.stringify(name.slice(0, 100))}${didYouMean(name, this.#task.functions)}`
  }

  #reportEnd(succeeded: boolean, text: string): void {
    const { maxOutputChars } = this.#task
    if (!succeeded) this.#end = { failure: this.#failureOf(JSON.parse(text) as Thrown) }
    else if (text.length > maxOutputChars)
      this.#exceed(`the result has ${text.length} characters, and may have ${maxOutputChars}`, 'max_output_chars')
    else this.#end = { result: text }
  }

  /** Ends the code for a limit. */
  #exceed(message: string, field: string, stack = ''): void {
    const hint = `make less of it, or raise ${field}`
    this.#fatal ??= { code: 'limit_exceeded', message, hint, details: { limit: field }, ...positionIn(stack) }
  }

  #receive(message: ToThread): void {
    const call = this.#pending.get(message.id)
    if (this.#hasEnded || !call) return
    this.#pending.delete(message.id)
    this.#pendingChars -= call.chars
    this.#protect(() => {
      const vm = this.#vm
      const text = 'failure' in message ? JSON.stringify(message.failure) : message.value
      const values = [
        vm.newNumber(message.id),
        'failure' in message ? vm.false : vm.true,
        text === undefined ? vm.undefined : vm.newString(text),
      ]
      vm.unwrapResult(vm.callFunction(this.#settle, vm.undefined, ...values)).dispose()
      for (const value of values) value.dispose()
    })
    this.#advance()
  }

  /** Runs what can run, and ends the code when nothing is left. */
  #advance(): void {
    this.#protect(() => this.#vm.unwrapResult(this.#runtime.executePendingJobs()))
    if (this.#fatal) this.#finish(this.#fatal)
    const end = this.#end
    if (end && 'failure' in end) return this.#finish(end.failure)
    // Calls that the code did not wait for belong to it, too.
    if (this.#hasEnded || this.#pending.size > 0) return
    if (!end && this.#isLate()) return this.#finish(timeoutFailure(this.#task.timeoutMs, undefined))
    if (!end)
      return this.#finish({ code: 'code_failed', message: 'the code waits for a promise that nothing will settle' })
    this.#protect(() => {
      const unused = this.#vm.unwrapResult(this.#vm.callFunction(this.#unused, this.#vm.undefined))
      const text = this.#vm.dump(unused) as string | undefined
      if (text === undefined) return this.#send(end)
      const failure = this.#failureOf(JSON.parse(text) as Thrown)
      this.#finish({ ...failure, hint: failure.hint ?? 'await the call, and catch its error if it may fail' })
    })
  }

  /** Runs work in the sandbox, whose exceptions end the code. */
  #protect(work: () => void): void {
    if (this.#hasEnded) return
    try {
      work()
    } catch (error) {
      const { cause } = error as { readonly cause?: Partial<Thrown> | null }
      const thrown = cause === null ? { ...unknown, message: 'null' } : { ...unknown, ...cause }
      this.#finish(this.#fatal ?? this.#failureOf(thrown))
    }
  }

  #failureOf(thrown: Thrown): CodeFailure {
    // Without memory for an error, null is thrown.
    if (thrown.name === '' && thrown.message === 'null' && this.#isFull()) return noMemory(this.#task.memoryMb)
    const isInterrupted = thrown.name === 'InternalError' && thrown.message === 'interrupted'
    return isInterrupted && this.#isLate()
      ? timeoutFailure(this.#task.timeoutMs, { stack: thrown.stack })
      : failureOf(thrown, this.#task)
  }

  /** Memory grows in steps of up to a fifth. */
  readonly #isFull = (): boolean => this.#memory.buffer.byteLength * 1.25 > this.#task.memoryMb * 1024 * 1024

  readonly #isLate = (): boolean => performance.now() > this.#deadline

  #oldest(): PendingCall | undefined {
    return this.#pending.values().next().value
  }

  readonly #finish = (failure: CodeFailure): void => this.#send({ failure })

  #send(end: CodeEnd): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
    this.#port.postMessage({ type: 'end', end })
  }
}
