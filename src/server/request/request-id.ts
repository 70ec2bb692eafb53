/** Gives every request a name of its own, which its answer bears. */
import type { MiddlewareHandler } from 'hono'
import { newId } from '../../core/ids.ts'
import { version } from '../../core/version.ts'
import type { AppEnv } from './env.ts'

export const identify: MiddlewareHandler<AppEnv> = async (context, next) => {
  // The router gives the address `/*` to everybody twice.
  if (context.get('requestId') !== undefined) return next()
  const requestId = newId('req')
  context.set('requestId', requestId)
  await next()
  context.header('x-request-id', requestId)
  context.header('x-bax-version', version)
  // Texts of strangers are never taken for a page.
  context.header('x-content-type-options', 'nosniff')
}
