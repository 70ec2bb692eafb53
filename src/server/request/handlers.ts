/** From a request that was let in to the operation, and from what it gives to the answer. */
import type { z } from 'zod'
import { tokenOf } from '../../core/access/caller.ts'
import type { Engine } from '../../core/engine.ts'
import { type Call, type Operation, route } from '../../core/operation/operation.ts'
import type { Service } from '../../core/operation/service.ts'
import type { StreamCall, StreamOperation } from '../../core/operation/stream.ts'
import type { DownloadOperation, UploadOperation } from '../../core/operation/transfer.ts'
import type { AppContext } from './env.ts'
import { shownIn } from '../access/gate.ts'
import { readInput } from './input.ts'
import type { BodyHold, BodyRoom, Places } from '../access/load.ts'
import type { OpenEnds } from '../websocket/open-streams.ts'
import type { Repeats } from './repeats.ts'
import { outgoingOf } from './requests.ts'
import { frameResponse } from './stream.ts'
import { bodyOf, contentResponse } from './transfer.ts'

export interface Ground {
  readonly engine: Engine
  readonly repeats: Repeats
  /** Where websockets are served: on the same listener, at another base address, or nowhere. */
  readonly sockets?: 'here' | `http${string}` | undefined
  /** The server that all of this is for. */
  readonly service?: Service | undefined
  readonly places: Places
  readonly bodies: BodyRoom
  /** Counts the streams that are open; absent where nothing bounds them. */
  readonly streams?: OpenEnds | undefined
}

type Fields = Record<string, string>

export async function answer(context: AppContext, operation: Operation, ground: Ground): Promise<Response> {
  const room = ground.bodies.open(context.get('caller'))
  try {
    return await answerFrom(context, operation, { ...ground, room })
  } finally {
    room.close()
  }
}

async function answerFrom(
  context: AppContext,
  operation: Operation,
  ground: Ground & { readonly room: BodyHold },
): Promise<Response> {
  const { engine, repeats, places, room } = ground
  const { raw } = context.req
  const rules = { maxBytes: operation.bodyBytes, room }
  const { input, warning } = await readInput(raw, operation.input, context.req.param() as Fields, rules)
  const call = callOf(context, ground)
  const work = async () => operation.run(engine, input as z.output<z.ZodObject>, call)
  const run = operation.heavy ? () => places.run(call.caller, work) : work
  const output = operation.idempotent
    ? await onlyOnce(operation, { engine, repeats, raw, call, input, run })
    : await run()
  if (operation.output === null) return context.body(null, 204)
  const lines = operation.lines?.(output as never, input as never)
  if (lines) {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    return context.body(text, 200, { 'content-type': 'application/x-ndjson' })
  }
  if (operation.text !== undefined) return context.body(output as string, 200, { 'content-type': operation.text })
  const body = output as Record<string, unknown>
  const joined = [body['warning'], warning].filter(Boolean).join('; ')
  const status = operation.status?.(output as never, input as never) ?? 200
  if (!joined) return context.json(body, status as 200)
  const warned = operation.warned?.(output as never, joined) ?? { ...body, warning: joined }
  return context.json(warned as Record<string, unknown>, status as 200)
}

interface Repeatable extends Pick<Ground, 'engine' | 'repeats'> {
  readonly raw: Request
  readonly call: Call
  readonly input: unknown
  readonly run: () => Promise<unknown>
}

/** The answer of the first request with the same key; of a large one only a note is kept, for all but its own caller. */
async function onlyOnce(
  operation: Operation,
  { engine, repeats, raw, call, input, run }: Repeatable,
): Promise<unknown> {
  const { http, replay } = operation
  const key = { operation: http, caller: call.caller, headers: raw.headers, signal: call.signal }
  if (!replay) return repeats.once(key, input, run)
  let made: { output: unknown } | undefined
  const note = await repeats.once(key, input, async () => {
    made = { output: await run() }
    return replay.note(made.output as never)
  })
  return made ? made.output : replay.again(engine, note as never, call)
}

/** Whether the caller of an address that can be read and followed wants to follow. */
export const acceptsFrames = (context: AppContext): boolean =>
  /text\/event-stream|application\/x-ndjson/.test(context.req.header('accept') ?? '')

export async function follow(context: AppContext, stream: StreamOperation, ground: Ground): Promise<Response> {
  const room = ground.bodies.open(context.get('caller'))
  const rules = { maxBytes: stream.bodyBytes, room }
  const { input } = await readInput(context.req.raw, stream.input, context.req.param() as Fields, rules).finally(room.close) // prettier-ignore
  const last = Number(context.req.header('last-event-id') || Number.NaN)
  const ended = new AbortController()
  const call: StreamCall = {
    ...callOf(context, ground),
    signal: ended.signal,
    since: Number.isInteger(last) ? last : undefined,
  }
  const over = () => ended.abort()
  const letGo = ground.streams?.take(call.caller, tokenOf(input['token'] as string | undefined, call))
  if (letGo) ended.signal.addEventListener('abort', letGo, { once: true })
  context.req.raw.signal.addEventListener('abort', over, { once: true })
  // The answer to HEAD has no reader who could go away.
  const outgoing = outgoingOf(context.env)
  if (outgoing?.destroyed) over()
  outgoing?.once('close', over)
  // Who follows is let go of when the key is.
  if (call.caller.keyId !== null) ground.engine.keys.whenLost(call.caller.keyId, over, ended.signal)
  try {
    const frames = await stream.open(ground.engine, input, call)
    if (frames !== null) return frameResponse(frames, context.req.header('accept'), over)
    over()
    return context.body(null, 204)
  } catch (error) {
    over()
    throw error
  }
}

export async function move(
  context: AppContext,
  transfer: DownloadOperation | UploadOperation,
  ground: Ground,
): Promise<Response> {
  return 'open' in transfer ? download(context, transfer, ground) : upload(context, transfer, ground)
}

async function download(context: AppContext, operation: DownloadOperation, ground: Ground): Promise<Response> {
  const { raw } = context.req
  const fields = { ...(context.req.param() as Fields), ...restOfPath(operation.http, raw.url) }
  const { input } = await readInput(raw, operation.input, fields)
  const call = callOf(context, ground)
  return contentResponse(raw, await operation.open(ground.engine, input as z.output<z.ZodObject>, call))
}

async function upload(context: AppContext, operation: UploadOperation, ground: Ground): Promise<Response> {
  const { raw } = context.req
  const { input } = await readInput(raw, operation.input, context.req.param() as Fields, { hasJson: false })
  const call = callOf(context, ground)
  return context.json(await operation.receive(ground.engine, input as z.output<z.ZodObject>, bodyOf(raw), call))
}

/** The field with a star, percent-encoded as it came: its bytes need not be UTF-8. */
function restOfPath(http: string, url: string): Fields {
  const { path } = route(http)
  const [, name] = /\{(\w+)\*\}$/.exec(path) ?? []
  if (name === undefined) return {}
  const before = path.split('/').length - 1
  return { [name]: new URL(url).pathname.split('/').slice(before).join('/') }
}

function callOf(context: AppContext, { sockets, service }: Ground): Call {
  const here = new URL(context.req.url).origin
  return {
    caller: context.get('caller'),
    signal: context.req.raw.signal,
    // A private socket and a call within the process have no HTTP address: URLs in responses are paths there.
    baseUrl: sockets === 'here' ? here : '',
    socketBaseUrl: sockets === 'here' ? here : (sockets ?? null),
    requestId: context.get('requestId'),
    token: shownIn(context.req.raw.headers) ?? null,
    preferAsync: context.req.header('prefer')?.includes('respond-async') ?? false,
    ...(service && { service }),
  }
}
