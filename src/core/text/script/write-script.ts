/** Writes recorded steps as a script for `bax run`. */
import type { RecordedStep } from '../../shapes/recording.ts'
import { type CommandFields, literal, shortStep } from './write-step.ts'

/** Loads the package, which has only a default export in the bundle. */
const loadYaml = async () => (await import('yaml')).default

/** A step with the names of its fields that are templates: only these may refer to variables. */
interface WrittenStep extends RecordedStep {
  readonly templates?: readonly string[]
}

/** Facts of a script besides its steps. */
interface ScriptFacts {
  /** Settings of the session that runs it. */
  readonly session?: Readonly<Record<string, unknown>>
  /** Environment variables that no output may show. */
  readonly secrets?: readonly string[]
  readonly remark?: string | undefined
  /** Comment after the last step. */
  readonly end?: string | undefined
}

/** Returns the text of a script in YAML. */
export async function scriptText(
  steps: readonly WrittenStep[],
  manifest: CommandFields,
  { end, remark, secrets = passwords(steps), session = {} }: ScriptFacts = {},
): Promise<string> {
  const { Document, isCollection, isMap, isNode } = await loadYaml()
  const written = steps.map((step) => scriptStep(step, manifest))
  const document = new Document({
    ...(secrets.length > 0 && { secrets }),
    ...(Object.keys(session).length > 0 && { session: literal(session) }),
    steps: written,
  })
  if (remark !== undefined) document.commentBefore = commentText(remark)
  if (end !== undefined) document.comment = commentText(end)
  for (const [index, { command, comment }] of steps.entries()) {
    const fields = document.getIn(['steps', index, command])
    if (isMap(fields)) for (const { value } of fields.items) if (isCollection(value)) value.flow = true
    const item = document.getIn(['steps', index], true)
    if (comment !== undefined && isNode(item)) item.commentBefore = commentText(comment)
    const fingerprint = document.getIn(['steps', index, 'fingerprint'])
    if (isMap(fingerprint)) fingerprint.flow = true
  }
  return document.toString({ lineWidth: 0 })
}

const passwords = (steps: readonly RecordedStep[]) => (steps.some(({ secret }) => secret) ? ['PASSWORD'] : [])

const commentText = (text: string) =>
  text
    .split('\n')
    .map((line) => ` ${line}`)
    .join('\n')

/** Returns the step that opens the page on which a recording starts; none for an empty page. */
export const startSteps = (url: string): RecordedStep[] =>
  url === 'about:blank' ? [] : [{ command: 'navigate_to', data: { url } }]

/** Formats a step as one line of YAML, without its fingerprint. */
export async function stepLine({ command, data, secret }: RecordedStep, manifest: CommandFields): Promise<string> {
  const { Document, isMap } = await loadYaml()
  const document = new Document([scriptStep({ command, data, secret }, manifest)])
  const item = document.getIn([0])
  const [pair] = isMap(item) ? item.items : []
  if (isMap(pair?.value)) pair.value.flow = true
  return document.toString({ lineWidth: 0 }).trimEnd()
}

/** Returns a step as it is written in a script. */
function scriptStep(
  // Recordings only replace what is typed.
  { command, data, fingerprint, secret, templates = secret ? ['text'] : [] }: WrittenStep,
  manifest: CommandFields,
): unknown {
  const step = shortStep({ command, data, templates }, manifest)
  return fingerprint && typeof step === 'object' ? { ...step, fingerprint } : step
}
