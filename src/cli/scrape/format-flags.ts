/** Flags that request a format with options: `--prompt` and `--schema` for json, `--attribute` for attributes. */
import type { Command } from 'commander'
import type { Unchecked } from '../../client/calls.ts'
import { readAttributeSelector } from '../../core/operation/attribute-selector.ts'
import { collect } from '../../lines/flags.ts'
import { textFlags } from '../../lines/typed.ts'
import type { TypedArguments } from '../../lines/values.ts'
import { addJsonFlags, withJsonFormat } from './json-format.ts'

/** Names of the flags. */
export const formatFlags = ['prompt', 'schema', 'attribute']

/** Adds the flags to a command. */
export const addFormatFlags = (command: Command): Command =>
  addJsonFlags(command).option(
    '--attribute <selector@name>',
    "elements and an attribute of theirs, such as 'a.next@href', for the attributes format; may be repeated",
    collect,
  )

/** Adds the formats of the flags to a request. @throws BaxError `invalid_request` */
export function withFormatFlags(input: Unchecked, flags: TypedArguments['flags'], cwd: string): Unchecked {
  const own = withJsonFormat(input, flags, cwd)
  const selectors = textFlags(flags, 'attribute').map((text) => readAttributeSelector(text, '--attribute'))
  if (selectors.length === 0) return own
  // The flag gives the options of a format that is also named.
  const formats = textFlags(own, 'formats').filter((name) => name !== 'attributes')
  return { ...own, formats: [...formats, { type: 'attributes', selectors }] }
}
