/** The catalogue: every browser command by family, and the request shape shared by HTTP, scripts and documents. */
import { z } from 'zod'
import type { Command } from '../core/operation/command.ts'
import { didYouMean } from '../core/errors/suggest.ts'
import * as clipboard from './session/clipboard.ts'
import * as content from './content.ts'
import * as cookies from './cookies.ts'
import * as emulation from './control/emulation.ts'
import * as dialogs from './session/dialogs.ts'
import * as form from './form.ts'
import * as inspect from './inspect.ts'
import * as log from './read/log.ts'
import * as keyboard from './keyboard.ts'
import * as navigation from './navigation.ts'
import * as network from './control/network.ts'
import * as overlay from './overlay.ts'
import * as pdf from './media/pdf.ts'
import * as pointer from './pointer.ts'
import * as recording from './media/recording.ts'
import * as screenshot from './media/screenshot.ts'
import * as state from './state.ts'
import * as tabs from './session/tabs.ts'
import * as upload from './upload.ts'
import * as webmcp from './control/webmcp.ts'
import * as webstorage from './webstorage.ts'

/** Families in the order of the help text; the export name of a value is the command's name. */
export const commands = {
  navigation,
  pointer,
  keyboard,
  form,
  dialogs,
  tabs,
  clipboard,
  upload,
  content,
  inspect,
  webmcp,
  screenshot,
  pdf,
  recording,
  overlay,
  cookies,
  webstorage,
  state,
  log,
  network,
  emulation,
}

/** All commands by name. */
export const catalogue = new Map<string, Command>(
  Object.values<object>(commands).flatMap((family): [string, Command][] => Object.entries(family)),
)

const options = [...catalogue].map(([name, { data }]) =>
  z.object({
    command: z.literal(name),
    data: data.safeParse({}).success ? data.nullish().transform((value) => value ?? data.parse({})) : data,
  }),
)

/** `{command, data}`, discriminated by `command`. */
export const commandRequest: z.ZodType<{ command: string; data?: Record<string, unknown> }> = z.discriminatedUnion(
  'command',
  options as [(typeof options)[number], ...typeof options],
  {
    error: (issue) => {
      if (issue.code !== 'invalid_union') return undefined
      const name = (issue.input as { command?: unknown } | undefined)?.command
      if (typeof name !== 'string') return 'command is required'
      return `unknown command ${JSON.stringify(name)}${didYouMean(name, catalogue.keys())}`
    },
  },
)
