/** Stores on a test's Redis, each with a connection of its own, as every gateway and worker has. */
import { connectRedis } from '../../src/fleet/redis/connect.ts'
import { openRedisStores, type RedisStores, type RedisStoresOptions } from '../../src/fleet/stores/open.ts'
import type { TestRedis } from './redis.ts'

export function openedStores() {
  const closers: (() => void)[] = []
  return {
    async open(redis: TestRedis, options: Partial<RedisStoresOptions> = {}): Promise<RedisStores> {
      const log = () => {}
      const connection = await connectRedis({ url: redis.url, log })
      const stores = await openRedisStores({ redis: connection, log, ...options })
      closers.push(() => {
        stores.close()
        connection.disconnect()
      })
      return stores
    },
    closeAll(): void {
      for (const close of closers.splice(0)) close()
    },
  }
}
