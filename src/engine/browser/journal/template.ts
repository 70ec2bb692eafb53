/** Texts with references to environment variables, as scripts have them: `${env.PASSWORD}`; `$${` is a literal `${`. */
/** A text, or the name of a variable. */
export type Part = string | { readonly variable: string }

/** Returns the parts of a template; texts next to each other are one. */
export function partsOf(template: string): Part[] {
  const parts: Part[] = []
  let text = ''
  let end = 0
  for (const match of template.matchAll(/\$\$\{|\$\{env\.(\w+)\}/g)) {
    const [token, variable] = match
    text += template.slice(end, match.index)
    end = match.index + token.length
    if (variable === undefined) text += '${'
    else {
      parts.push(text, { variable })
      text = ''
    }
  }
  return [...parts, text + template.slice(end)].filter((part) => part !== '')
}

/** A step or an entry, whose fields may be templates. */
interface WithTemplates {
  readonly data: Readonly<Record<string, unknown>>
  readonly templates?: readonly string[]
}

/** Returns the names of the variables that the data refers to. */
export const variablesIn = ({ data, templates = [] }: WithTemplates): string[] =>
  templates
    .flatMap((name) => textsIn(data[name]))
    .flatMap(partsOf)
    .flatMap((part) => (typeof part === 'string' ? [] : [part.variable]))

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
