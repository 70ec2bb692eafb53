/** `bax fleet import`: copies keys, profiles and relay tokens from a state folder to the Redis of a fleet. */
import { param } from '../../serve/param.ts'
import { textWord, readParams } from '../../../lines/typed.ts'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Argument } from 'commander'
import { BaxError, exits } from '../../../core/errors/errors.ts'
import type { ImportReport } from '../../../fleet/import/import.ts'
import { checkedFleetUrl, fleetParam } from '../../fleet/address.ts'
import { note, print } from '../../io.ts'
import { addParam } from '../../../lines/flags.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'

const params = {
  url: { ...fleetParam, required: true },
  overwrite: param('overwrite', 'replace records that Redis already has; keys stay revoked', {
    type: 'boolean',
    default: false,
  }),
} as const

export const command: TerminalCommand = {
  cli: 'fleet import [state-dir]',
  summary: 'Copy keys and profiles to a fleet',
  example: [
    'bax fleet import --fleet redis://10.0.0.5:6379',
    'bax fleet import /var/lib/bax --fleet redis://10.0.0.5:6379 --overwrite',
  ],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.addArgument(new Argument('[state-dir]', "folder to copy from; by default the user's own"))
      for (const one of Object.values(params)) addParam(command, one)
    })
    const { io, settings } = context
    const folder = textWord(typed.words, 0)
    const stateDir = folder === undefined ? settings.stateDir : resolve(io.cwd, folder)
    const { url: given, overwrite } = readParams(params, typed.flags, io.cwd)
    const url = checkedFleetUrl(given)
    if (!existsSync(stateDir)) {
      throw new BaxError('invalid_request', `no state folder at ${stateDir}`, {
        hint: 'pass the folder that "bax serve" used, or set --state-dir',
      })
    }
    const [{ connectRedis }, { importState }] = await Promise.all([
      import('../../../fleet/redis/connect.ts'),
      import('../../../fleet/import/import.ts'),
    ])
    const redis = await connectRedis({ url, log: (_, message) => note(io, message) })
    try {
      const report = await importState({ redis, stateDir, overwrite })
      if (settings.json) print(io, JSON.stringify(report))
      else for (const line of linesOf(report)) print(io, line)
      const { unencrypted_profiles: plain } = report
      if (plain > 0)
        note(io, `${plain} of the profiles are not encrypted: save them again with a profile key to encrypt them`)
      const isWhole = kindsOf(report).every(([, { damaged }]) => damaged.length === 0)
      return isWhole ? exits.done : exits.failed
    } finally {
      redis.disconnect()
    }
  },
}

const kindsOf = ({ keys, profiles, relay_tokens: tokens }: ImportReport) =>
  [
    ['keys', keys],
    ['profiles', profiles],
    ['relay tokens', tokens],
  ] as const

/** Formats the counts of every kind, followed by the records that were not copied. */
function linesOf(report: ImportReport): string[] {
  return kindsOf(report).flatMap(([kind, { imported, replaced, unchanged, skipped, damaged }]) => {
    const more = [
      [replaced, 'replaced'],
      [unchanged, 'unchanged'],
      [skipped.length, 'skipped'],
      [damaged.length, 'damaged'],
    ].filter(([count]) => count !== 0)
    const counts = [[imported, 'imported'], ...more].map(([count, what]) => `${count} ${what}`).join(', ')
    return [
      `${kind}: ${counts}`,
      ...skipped.map(({ id, why }) => `  ${id} ${why}`),
      ...damaged.map(({ file, why }) => `  ${file} is damaged: ${why}`),
    ]
  })
}
