/** Names of everything that bax creates in its folders, which may have files of others if a setting names them. */
import { localFiles } from './local-files.ts'
import { isTemporary } from './state-check.ts'

/** Patterns of the names in a folder, by their folder below it; inner folders come first. */
export type OwnNames = Readonly<Record<string, RegExp>>

const others = ['bot-key.json', 'identity.key', 'relay-tokens.json', 'shell-engine-id', 'tui-history']
const files = [...Object.values(localFiles('')), ...others].map((name) => name.replaceAll('.', String.raw`\.`))

/** In the state folder. Damaged files have a longer name, logs a predecessor. */
export const stateNames: OwnNames = {
  'keys/used': /^key_/,
  artifacts: /^sh_/,
  'crawl-folders': /^[\da-f]{32}\.json/,
  crawls: /^crl_/,
  credentials: /^[\da-f]{64}\.json/,
  downloads: /^ses_/,
  keys: /^key_/,
  profiles: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.json/,
  sessions: /^\d+-[\da-f]{12}\.ndjson/,
  'shell-sessions': /^\d+-[\da-f]{12}\.ndjson/,
  versions: /^[\da-f]{32}$/,
  '': new RegExp(
    String.raw`^(?:${files.join('|')})(?:\.1|\.damaged-.*)?$|^(?:engine|cli|worker)\.sock(?:\.|$)|^[\da-f]{16}\.[\da-f]{12}\.lock$`,
  ),
}

/** In the cache folder: browsers of `bax setup`, and programs that the single file has unpacked. */
export const cacheNames: OwnNames = {
  browsers: /^portable-\d/,
  program: /^[\da-f]{16,}(?:\.|$)/,
  '': /^unpacking-\w{6}$/,
}

/** Returns whether bax has created what has this name in the folder of a pattern. */
export const isOwnName = (name: string, pattern: RegExp): boolean => pattern.test(name) || isTemporary(name)
