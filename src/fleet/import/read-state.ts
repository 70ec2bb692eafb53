/** Reads the records of a state folder without changing it: damaged files stay where they are. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stateKinds } from '../../core/state/state-kinds.ts'
import { decodeRecord, type StateKind } from '../../core/state/state-record.ts'
import { type TokenFileContent, tokensOf } from '../../engine/relay/hub/token-file.ts'
import type { StoredToken } from '../../engine/relay/hub/tokens.ts'
import type { KeptKey } from '../../engine/store/key-records.ts'
import type { NamedProfile, StoredProfile } from '../../engine/store/profiles.ts'

/** A file that cannot be used. */
export interface DamagedFile {
  /** Path below the state folder. */
  readonly file: string
  readonly why: string
}

interface Found<Content> {
  readonly good: readonly Content[]
  readonly damaged: readonly DamagedFile[]
}

export interface StateContent {
  readonly keys: Found<KeptKey>
  readonly profiles: Found<NamedProfile>
  readonly tokens: Found<StoredToken>
}

export function readStateDir(stateDir: string): StateContent {
  const keys = readAll<KeptKey>(stateDir, 'keys', stateKinds.key)
  const profiles = readAll<StoredProfile>(stateDir, 'profiles', stateKinds.profile)
  const tokens = readAll<TokenFileContent>(stateDir, '', stateKinds.relayTokens)
  return {
    keys: { ...keys, good: keys.good.map(({ content }) => content) },
    profiles: {
      ...profiles,
      good: profiles.good.map(({ name, content }) => ({
        id: name.slice(0, -'.json'.length).toLowerCase(),
        stored: content,
      })),
    },
    tokens: { ...tokens, good: tokens.good.flatMap(({ content }) => tokensOf(content)) },
  }
}

function readAll<Content>(stateDir: string, folder: string, kind: StateKind) {
  const good: { name: string; content: Content }[] = []
  const damaged: DamagedFile[] = []
  for (const name of namesIn(join(stateDir, folder))) {
    const file = folder === '' ? name : `${folder}/${name}`
    if (!kind.files.test(file)) continue
    const record = readRecord<Content>(join(stateDir, file), kind)
    if ('content' in record) good.push({ name, content: record.content })
    else damaged.push({ file, why: record.damage })
  }
  return { good, damaged }
}

function readRecord<Content>(path: string, kind: StateKind) {
  try {
    return decodeRecord<Content>(readFileSync(path, 'utf8'), kind)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { damage: code === 'EISDIR' ? 'it is a folder' : `it cannot be read (${code})` }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
