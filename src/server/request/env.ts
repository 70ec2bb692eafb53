/** What the middlewares of a request leave for those after them. */
import type { Context } from 'hono'
import type { Caller } from '../../core/access/caller.ts'

export interface AppEnv {
  Variables: {
    requestId: string
    /** Set by the gate. */
    caller: Caller
  }
}

export type AppContext = Context<AppEnv>
