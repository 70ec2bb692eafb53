/** Request variables that middlewares set for later handlers. */
import type { Context } from 'hono'
import type { Caller } from '../../core/access/caller.ts'

export interface AppEnv {
  Variables: {
    requestId: string
    /** Set by the gate. */
    caller: Caller
    /** Slot that a gateway reserved on this worker. */
    reservation?: string
  }
}

export type AppContext = Context<AppEnv>
