/** The guide: one Markdown file for each topic in `src/guide`. The build copies them. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Io } from '../io.ts'

export interface GuidePage {
  /** Name of the file without its extension, such as `live-view`. */
  readonly topic: string
  readonly title: string
  /** One sentence, the first paragraph of the page. */
  readonly summary: string
  /** Commands named below the summary: "Commands: `bax scrape`". Their help points to the page. */
  readonly commands: readonly string[]
  readonly text: string
}

/** Returns all pages, sorted by topic. */
export function readGuide(io: Io): GuidePage[] {
  const folder = folderOf(io)
  const files = readdirSync(folder).filter((name) => name.endsWith('.md'))
  return files
    .toSorted()
    .map((name) => parsePage(name.slice(0, -'.md'.length), readFileSync(join(folder, name), 'utf8')))
}

/** Returns the folder of the build, or of the sources if there is none. */
const folderOf = ({ host: { manifest } }: Io, name: 'guide' | 'skill' = 'guide'): string =>
  manifest === undefined ? join(import.meta.dirname, '../..', name) : join(dirname(manifest), name)

/** Returns the skill for agents. */
export const readSkill = (io: Io): string => readFileSync(join(folderOf(io, 'skill'), 'SKILL.md'), 'utf8')

function parsePage(topic: string, text: string): GuidePage {
  const [title = '', summary = '', next = ''] = text.split(/\n{2,}/)
  const commands = next.startsWith('Commands: ') ? next.matchAll(/`bax ([^`]+)`/g) : []
  return {
    topic,
    title: title.replace(/^# /, ''),
    summary: summary.replaceAll('\n', ' '),
    commands: [...commands].map(([, words]) => words!),
    text,
  }
}
