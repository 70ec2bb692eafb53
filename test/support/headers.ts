import type { WireResponse } from '../../src/client/transport.ts'

/** Returns a header of a response from any transport. */
export const headerOf = ({ headers }: Pick<WireResponse, 'headers'>, name: string) =>
  headers instanceof Headers ? headers.get(name) : headers[name]
