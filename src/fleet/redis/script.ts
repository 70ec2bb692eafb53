/** Lua scripts, which Redis runs as one step. */
import type { Redis } from 'ioredis'

type Value = string | number | Buffer

/** First line of scripts that a full Redis runs too. */
export const evenIfFull = '#!lua flags=allow-oom\n'

/** Declares a script with its number of keys, or with any number of them, which is then its first value. */
export function luaScript<Result>(name: string, keys: number | 'any', lua: string) {
  const command = `bax_${name}`
  const fixed = keys === 'any' ? {} : { numberOfKeys: keys }
  return (redis: Redis, ...values: readonly Value[]): Promise<Result> => {
    if (!(command in redis)) redis.defineCommand(command, { ...fixed, lua })
    const scripts = redis as unknown as Readonly<Record<string, (...values: readonly Value[]) => Promise<Result>>>
    return scripts[command]!(...values)
  }
}
