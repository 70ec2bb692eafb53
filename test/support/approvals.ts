/** Actions that wait for a person. */
import { expect } from 'vitest'
import type { Client } from './client.ts'

export const waitingApprovals = async (client: Client) => (await client.listApprovals({})).approvals

/** Returns the only action that waits, once there is one. */
export async function waitingApproval(client: Client) {
  await expect.poll(async () => (await waitingApprovals(client)).length).toBe(1)
  return (await waitingApprovals(client))[0]!
}
