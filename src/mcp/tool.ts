/** Tools are values: a name, a description for agents, and a composition of operations that declare the rest. */
import type { z } from 'zod'
import { BaxError } from '../core/errors/errors.ts'
import type { KeyScope } from '../core/access/caller.ts'
import type { Operation, StreamOperation } from '../core/operation/operation.ts'
import type { Connection } from './connection.ts'

/** Group of a tool: the scope of the operations that it calls. */
export type ToolGroup = Exclude<KeyScope, 'admin'>

export const toolGroups = ['browser', 'scrape', 'shell', 'relay'] as const satisfies readonly ToolGroup[]

/** One call of a tool. */
export interface ToolCall {
  readonly connection: Connection
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal
  /** Reports progress, if the client has asked for it. */
  progress(done: number, total: number, message: string): Promise<void>
  /** Set if the client can show a URL to its person; `answer` when it repeats the call that asked for that. */
  readonly urls?: { readonly answer: UrlAnswer | undefined } | undefined
}

export interface UrlAnswer {
  /** State of the earlier answer, which the client may have changed. */
  readonly state: unknown
  /** Whether the person has opened the URL. */
  readonly accepted: boolean
}

/** A resource that a response refers to. */
interface ResourceLink {
  readonly uri: string
  readonly name: string
  readonly mimeType?: string
}

/** Hints that name elements of the page. */
export const suggestion = /^did you mean /

/** Failure of a page, whose message may contain text of the page. */
export class PageFailure extends BaxError {
  readonly isOfPage = true

  /** @param body Body of an error response. */
  constructor(body: unknown) {
    const { code, message, hint } = BaxError.fromBody(body)
    const isOfPage = hint !== undefined && suggestion.test(hint)
    super(code, isOfPage ? `${message}\n${hint}` : message, { ...(hint && !isOfPage && { hint }) })
  }
}

export interface ToolAnswer {
  /** Asks the client to show a URL to its person, and to repeat the call; only where the call has `urls`. */
  readonly ask?: { readonly message: string; readonly url: string; readonly state: object }
  /** Text of bax itself. */
  readonly text?: string
  /** Text of pages or programs, which is marked as untrusted. */
  readonly page?: string
  readonly image?: { readonly data: string; readonly mimeType: string }
  readonly links?: readonly ResourceLink[]
  /** Value of the output schema; the text contains the same for clients that do not read it. */
  readonly data?: Record<string, unknown>
  /** Whether the work failed, although the call was valid. */
  readonly failed?: boolean
}

export interface Tool<In extends z.ZodObject = z.ZodObject> {
  readonly name: string
  /** Short text for agents: purpose, and how to call it if that is not obvious. */
  readonly description: string
  /** Operations that it calls. They decide its group, and who may call it. */
  readonly uses: readonly (Operation | StreamOperation)[]
  /**
   * Effect on pages, files and sites: `read` changes nothing, `write` adds to them, `destroy` may delete. A server that
   * only reads offers the first kind.
   */
  readonly effect: 'read' | 'write' | 'destroy'
  /** Whether it only reaches what bax itself holds, such as containers, instead of sites. */
  readonly closed?: true
  /** Whether it needs files and programs of the client's machine, so that only `bax mcp` offers it. */
  readonly local?: true
  /** Whether it may answer with a URL for a person. */
  readonly asksByUrl?: true
  /** Whether it can reach any host, so that it is not offered with allowed domains. */
  readonly unrestricted?: true
  /** Fields, taken from the schemas of operations and commands. */
  readonly input: In
  /** Shape of `data`, for tools whose result is data. */
  readonly output?: z.ZodObject
  run(call: ToolCall, input: z.output<In>): Promise<ToolAnswer>
}

export function defineTool<In extends z.ZodObject>(tool: Tool<In>): Tool {
  return tool as unknown as Tool
}

/** Returns the group of a tool. */
export const groupOf = ({ uses }: Pick<Tool, 'uses'>): ToolGroup => [uses[0]!.scope].flat()[0] as ToolGroup
