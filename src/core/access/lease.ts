/** Shapes of leases: streams of an owner whose end closes a session. */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { integer, oneEventOf } from '../shapes/fields.ts'

export const graceSecs = integer(0, limits.lease.maxGraceSecs)
  .default(limits.lease.graceSecs)
  .describe('Time for the client to open the stream again before the session is closed, in seconds')

export const leaseFrame = oneEventOf(
  'lease.held',
  z.object({}).describe('The session is closed when the stream ends'),
  'Always 1',
)
