/**
 * Typed calls of operations by name. The types come from the declarations of the operations, the routes from the
 * manifest, so that a one-liner loads no schemas.
 */
import type { z } from 'zod'
import { BaxError } from '../core/errors/errors.ts'
import type { Frame } from '../core/operation/call.ts'
import type { Operations, Streams, Transfers } from '../operations/index.ts'
import * as client from './client.ts'
import type { CallOptions, Download } from './client.ts'
import type { Transport } from './transport.ts'

type Declared = Operations & Streams & Transfers

/** Names of operations of all kinds. */
export type CallName = keyof Declared
export type OperationName = keyof Operations
export type StreamName = keyof Streams
type DownloadName = NamesWith<'mediaType'>
type UploadName = NamesWith<'receive'>

type NamesWith<Field extends string> = {
  [Name in keyof Transfers]: Transfers[Name] extends Record<Field, unknown> ? Name : never
}[keyof Transfers]

/** Input of an operation, as callers write it. */
export type Input<Name extends CallName> = z.input<Declared[Name]['input']>

/** Response of an operation; void if it has no body. */
export type Answer<Name extends CallName> = Declared[Name] extends { readonly output: infer Out }
  ? Out extends z.ZodType
    ? z.output<Out>
    : void
  : never

/** Frame of a stream. */
export type FrameOf<Name extends StreamName> = z.output<Streams[Name]['frame']>

declare const unchecked: unique symbol

/** Fields whose names are known only at run time, such as those of flags. The engine checks them. */
export type Unchecked = Readonly<Record<string, unknown>> & { readonly [unchecked]: true }

/** Marks fields that only the engine can check. */
export const uncheckedFields = (fields: Readonly<Record<string, unknown>>): Unchecked => fields as Unchecked

type Given<Name extends CallName> = Input<Name> | Unchecked

/** An operation that is chosen at run time. */
interface Routed {
  readonly http: string
}

/** Calls of one engine. Every call throws BaxError with the engine's error code, or `engine_unreachable`. */
export interface Calls {
  ask<Name extends OperationName>(name: Name, input: Given<Name>, options?: CallOptions): Promise<Answer<Name>>
  ask(operation: Routed, input: Unchecked, options?: CallOptions): Promise<unknown>

  /** Follows a stream frame by frame; returns when it ends. */
  follow<Name extends StreamName>(name: Name, input: Given<Name>, options?: CallOptions): AsyncGenerator<FrameOf<Name>>
  follow(stream: Routed, input: Unchecked, options?: CallOptions): AsyncGenerator<Frame>

  /** Opens a stream without reading it yet; returns null when there is nothing left to follow. */
  open<Name extends StreamName>(
    name: Name,
    input: Given<Name>,
    options?: CallOptions,
  ): Promise<AsyncGenerator<FrameOf<Name>> | null>

  download<Name extends DownloadName>(name: Name, input: Given<Name>, options?: CallOptions): Promise<Download>
  /** Downloads from a path of an earlier response. */
  download(file: Routed, input: Readonly<Record<string, never>>, options?: CallOptions): Promise<Download>

  /** Uploads bytes; the fields become the query. */
  upload<Name extends UploadName>(
    name: Name,
    input: Given<Name>,
    body: AsyncIterable<Uint8Array>,
    options?: CallOptions,
  ): Promise<Answer<Name>>
}

type Fields = Readonly<Record<string, unknown>>

/** Creates the calls of an engine. `operations` are those of the manifest. */
export function callsOf(transport: Transport, operations: readonly client.OperationRoute[]): Calls {
  const routeOf = (operation: CallName | Routed): string => {
    if (typeof operation === 'object') return operation.http
    const found = operations.find(({ name }) => name === operation)
    if (!found) throw new BaxError('internal_error', `the manifest has no operation ${operation}`)
    return found.http
  }
  // The engine returns what the operations declare; `never` stands for every such type.
  return {
    ask: (operation: CallName | Routed, input: Fields, options?: CallOptions) =>
      client.call(transport, routeOf(operation), input, options) as Promise<never>,
    follow: (operation: CallName | Routed, input: Fields, options?: CallOptions) =>
      client.follow<never>(transport, routeOf(operation), input, options),
    open: (operation: CallName, input: Fields, options?: CallOptions) =>
      client.openStream<never>(transport, routeOf(operation), input, options),
    download: (operation: CallName | Routed, input: Fields, options?: CallOptions) =>
      client.download(transport, routeOf(operation), input, options),
    upload: (operation: CallName, input: Fields, body: AsyncIterable<Uint8Array>, options?: CallOptions) =>
      client.upload(transport, routeOf(operation), input, body, options) as Promise<never>,
  }
}
