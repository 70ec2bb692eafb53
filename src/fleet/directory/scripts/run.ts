/** Runs the scripts of the directory, with a limit on how long they wait for Redis. */
import type { Redis } from 'ioredis'
import { ask } from '../../redis/ask.ts'
import * as objects from './objects.ts'
import * as placement from './placement.ts'
import { prelude } from './prelude.ts'
import * as secret from './secret.ts'
import * as workers from './workers.ts'

/** Prefix of all keys; see the prelude. */
export const prefix = 'bax:dir:'

const scripts = { ...placement, ...objects, ...secret, ...workers }
type ScriptName = keyof typeof scripts
type Answer = string | number | null | Answer[]

/** Runs a script. @throws BaxError `fleet_unavailable` */
export type RunScript = <T extends Answer>(name: ScriptName, ...args: readonly (string | number)[]) => Promise<T>

/** Defines the scripts on a connection, which may be shared. */
export function scriptsOn(redis: Redis, answerMs?: number): RunScript {
  const commands = redis as unknown as Record<string, (...args: readonly (string | number)[]) => Promise<Answer>>
  for (const [name, script] of Object.entries(scripts)) {
    const flags = 'flags' in script ? ` flags=${script.flags}` : ''
    const lua = `#!lua${flags}\n${prelude}\n${script.lua}`
    if (!(commandName(name) in commands)) redis.defineCommand(commandName(name), { lua, numberOfKeys: 0 })
  }
  return async <T extends Answer>(name: ScriptName, ...args: readonly (string | number)[]) =>
    (await ask(redis, () => commands[commandName(name)]!(...args), answerMs)) as T
}

const commandName = (name: string): string => `bax_dir_${name}`
