/** Options of an MCP server: which tools it offers, and what they may do. */
import type { CommandEntry, Manifest } from '../operations/manifest.ts'
import { BaxError } from '../core/errors/errors.ts'
import { didYouMean } from '../core/errors/suggest.ts'
import { type ActionKind, kindNames } from '../core/access/approvals.ts'
import { parseHostPattern } from '../core/net/host-pattern.ts'
import { type ToolGroup, toolGroups } from './tool.ts'

export interface McpOptions {
  readonly groups: readonly ToolGroup[]
  /** Offers only tools that change nothing. */
  readonly readOnly: boolean
  /** Whether sessions accept any TLS certificate. */
  readonly insecure: boolean
  /** Hosts that sessions and scrapes may reach; all when absent. */
  readonly allowedDomains?: readonly string[]
  /** Actions that wait for a person; none when absent. */
  readonly confirm?: readonly ActionKind[]
  /** Families of browser commands that `browser_act` accepts. */
  readonly families: ReadonlySet<string>
  /** Whether text of pages is enclosed in markers. */
  readonly boundaries: boolean
}

/** Families that most tasks need; the others are added with `--caps`. */
const usualFamilies: ReadonlySet<string> = new Set([
  'navigation',
  'pointer',
  'keyboard',
  'form',
  'dialogs',
  'tabs',
  'upload',
  'content',
  'inspect',
  'webmcp',
  'log',
  'pdf',
])

const familiesOf = (commands: readonly CommandEntry[]): string[] => [...new Set(commands.map(({ family }) => family))]

/** Returns the families that `--caps` can add. */
const optionalFamilies = ({ commands }: Manifest): string[] =>
  familiesOf(commands).filter((family) => !usualFamilies.has(family))

/** Options as they are typed, or absent. */
export interface TypedOptions {
  readonly tools?: readonly string[] | undefined
  readonly caps?: readonly string[] | undefined
  readonly allowedDomains?: readonly string[] | undefined
  readonly confirm?: readonly string[] | undefined
  readonly readOnly?: boolean | undefined
  readonly insecure?: boolean | undefined
  readonly contentBoundaries?: boolean | undefined
}

/** Reads the options of a server. @throws BaxError `invalid_request` that names the flag and the value */
export function readOptions(typed: TypedOptions, manifest: Manifest): McpOptions {
  const { tools = ['all'], caps = [], allowedDomains, confirm } = typed
  check('--tools', tools, ['all', ...toolGroups])
  const optional = optionalFamilies(manifest)
  check('--caps', caps, ['all', ...optional])
  if (confirm) check('--confirm', confirm, kindNames)
  for (const host of allowedDomains ?? [])
    if (!parseHostPattern(host))
      throw new BaxError(
        'invalid_request',
        `--allowed-domains must be hosts such as example.com or *.example.com, not ${JSON.stringify(host)}`,
      )
  return {
    groups: tools.includes('all') ? toolGroups : toolGroups.filter((group) => tools.includes(group)),
    families: new Set([...usualFamilies, ...(caps.includes('all') ? optional : caps)]),
    readOnly: typed.readOnly ?? false,
    insecure: typed.insecure ?? false,
    boundaries: typed.contentBoundaries ?? true,
    ...(allowedDomains && { allowedDomains }),
    ...(confirm && { confirm: confirm as readonly ActionKind[] }),
  }
}

function check(flag: string, given: readonly string[], allowed: readonly string[]): void {
  const wrong = given.find((value) => !allowed.includes(value))
  if (wrong === undefined) return
  throw new BaxError(
    'invalid_request',
    `${flag} must be ${allowed.join(', ')}, not ${JSON.stringify(wrong)}${didYouMean(wrong, allowed)}`,
  )
}
