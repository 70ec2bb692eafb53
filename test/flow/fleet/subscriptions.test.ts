/** Messages between gateways and workers when the connection to Redis is lost. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Subscriptions } from '../../../src/fleet/redis/subscriptions.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { waitUntil } from '../../support/wait.ts'

describe.skipIf(noRedis)(titled('subscriptions', noRedis), () => {
  let redis: TestRedis
  beforeAll(async () => void (redis = await startRedis()))
  afterAll(() => redis.close())

  const endConnections = () => redis.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub')

  test('after a lost connection, listeners are called without a message, and get messages again', async () => {
    const subscriptions = new Subscriptions(redis.client)
    const heard: (string | undefined)[] = []
    try {
      await subscriptions.listen('news', (message) => heard.push(message))
      await redis.client.publish('news', 'before')
      await waitUntil(() => heard.at(-1) === 'before')
      await endConnections()
      await waitUntil(() => heard.at(-1) === undefined)
      await redis.client.publish('news', 'after')
      await waitUntil(() => heard.at(-1) === 'after')
      expect(heard.filter((message) => message !== undefined)).toEqual(['before', 'after'])
    } finally {
      subscriptions.close()
    }
  })
})
