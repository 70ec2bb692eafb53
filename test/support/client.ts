/** A client with one method per operation, created from the list of operations. */
import type { Answer, Input, OperationName } from '../../src/client/calls.ts'
import { call, type CallOptions, type OperationRoute } from '../../src/client/client.ts'
import type { Transport } from '../../src/client/transport.ts'

export type Client = {
  readonly [Name in OperationName]: (input?: Input<Name>, options?: CallOptions) => Promise<Answer<Name>>
}

export function createClient(transport: Transport, operations: readonly OperationRoute[]): Client {
  return Object.fromEntries(
    operations.map(({ name, http }) => [
      name,
      (input: Record<string, unknown> = {}, options: CallOptions = {}) => call(transport, http, input, options),
    ]),
  ) as Client
}
