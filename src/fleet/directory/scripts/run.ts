/** Runs the scripts of the directory, with a limit on how long they wait for Redis. */
import type { Redis } from 'ioredis'
import { ask } from '../../redis/ask.ts'
import { luaScript } from '../../redis/script.ts'
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

const commands = Object.fromEntries(
  Object.entries(scripts).map(([name, script]) => {
    const flags = 'flags' in script ? script.flags : ''
    return [name, luaScript<Answer>(`dir_${name}`, 0, script.lua, { flags, prelude })]
  }),
)

/** Returns the scripts on a connection, which may be shared. */
export const scriptsOn =
  (redis: Redis, answerMs?: number): RunScript =>
  async <T extends Answer>(name: ScriptName, ...args: readonly (string | number)[]) =>
    (await ask(redis, () => commands[name]!(redis, ...args), answerMs)) as T
