/** Lua scripts, which Redis runs as one step. */
import type { Redis } from 'ioredis'

type Value = string | number | Buffer

interface Header {
  /** Flags for Redis; empty for the rules of scripts that declare none, undefined for those of scripts without a header. */
  readonly flags?: string
  /** Lua that the script shares with others, in front of it. */
  readonly prelude?: string
}

/** Header of scripts that a full Redis runs too. */
export const evenIfFull = { flags: 'allow-oom' } as const

/** Declares a script with its number of keys, or with any number of them, which is then its first value. */
export function luaScript<Result>(name: string, keys: number | 'any', body: string, { flags, prelude }: Header = {}) {
  const command = `bax_${name}`
  const fixed = keys === 'any' ? {} : { numberOfKeys: keys }
  const header = flags === undefined ? '' : flags === '' ? '#!lua\n' : `#!lua flags=${flags}\n`
  const lua = `${header}${prelude ?? ''}${body}`
  return (redis: Redis, ...values: readonly Value[]): Promise<Result> => {
    if (!(command in redis)) redis.defineCommand(command, { ...fixed, lua })
    const scripts = redis as unknown as Readonly<Record<string, (...values: readonly Value[]) => Promise<Result>>>
    return scripts[command]!(...values)
  }
}
