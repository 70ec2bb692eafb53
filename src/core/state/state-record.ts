/**
 * Records of state files: JSON with a version and a checksum. Records of earlier versions of bax have neither; only
 * their shape is checked.
 */
import { checksumOf } from './checksum.ts'
import type { ErrorCode } from '../errors/errors.ts'

/** A kind of state file, or of its lines. */
export interface StateKind {
  /** Noun phrase for messages. */
  readonly name: string
  /** Paths of its files below the state folder. */
  readonly files: RegExp
  /** Whether the files have one record per line. */
  readonly lines?: true
  /** Checks the fields that its readers rely on. */
  readonly isContent: (value: object) => boolean
  /** Error code for damaged files. */
  readonly code?: ErrorCode
}

const version = 1

/** Returns the text of a record, without a line break. */
export function encodeRecord(content: object): string {
  const text = `{"$bax":${version},${JSON.stringify(content).slice(1, -1)}`
  return `${text},"$check":"${checksumOf(text)}"}`
}

const checkPattern = /,"\$check":"([0-9a-f]{16})"\}\s*$/

/** Returns the content of a record, or why it is damaged. */
export function decodeRecord<Content>(
  text: string,
  { isContent }: Pick<StateKind, 'isContent'>,
): { content: Content } | { damage: string } {
  // Search only the end, because a record may be long.
  const checked = checkPattern.exec(text.slice(-48))
  const length = checked ? text.length - checked[0].length : text.length
  if (checked && checksumOf(text.slice(0, length)) !== checked[1]) return { damage: 'its checksum does not match' }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { damage: text.trim() === '' ? 'it is empty' : 'it is not JSON' }
  }
  if (typeof value !== 'object' || value === null) return { damage: 'it has another shape' }
  const { $bax: written, $check: _, ...content } = value as Record<string, unknown>
  if (written === undefined && !checked) return shaped<Content>(value, isContent)
  if (written !== version) return { damage: `it has the version ${JSON.stringify(written)}, not ${version}` }
  return checked ? shaped<Content>(content, isContent) : { damage: 'its checksum is missing' }
}

const shaped = <Content>(value: object, isContent: StateKind['isContent']) =>
  isContent(value) ? { content: value as Content } : { damage: 'it has another shape' }
