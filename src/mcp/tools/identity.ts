/** The identity of reads, in one field of the tools that read pages. */
import { z } from 'zod'
import { identityFields, readSession } from '../../core/shapes/read/identity.ts'
import type { Connection } from '../connection.ts'

// Tools that read pages change nothing.
const { save_profile: _, ...fields } = identityFields

/** Identity of a crawl, which outlasts sessions. Its fields are not listed, because they are long. */
export const crawlIdentity = z.object(fields).optional().meta({ brief: true })

export const identity = z
  .object({ session_id: readSession, ...fields })
  .optional()
  .meta({ brief: true })

/** Returns the options of a read with an identity, limited to the allowed domains of the client. */
export async function readAs(connection: Connection, reader: z.output<typeof identity>) {
  const { session_id, ...given } = reader ?? {}
  if (session_id === undefined) return { ...given, ...connection.domains }
  // A session has the same limits, and accepts no others.
  return { ...given, session_id: await connection.session(session_id) }
}
