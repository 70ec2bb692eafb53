/** Request variables that middlewares set for later handlers. */
import type { Context } from 'hono'
import type { Caller } from '../../core/access/caller.ts'
import type { SignedBody } from '../access/signed-body.ts'

export interface AppEnv {
  Variables: {
    requestId: string
    /** Set by the gate. */
    caller: Caller
    /** Slot that a gateway reserved on this worker. */
    reservation?: string
    /** Verifies the body on a worker. */
    signedBody?: SignedBody
    /** Why a worker has not run the request. */
    refusal?: string
  }
}

export type AppContext = Context<AppEnv>
