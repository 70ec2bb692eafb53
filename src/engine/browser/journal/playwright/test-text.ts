/** Writes steps as a test in TypeScript for `@playwright/test`. */
import type { Page } from 'playwright'
import { locateAll, parseSelector } from '../../elements/selectors.ts'
import type { LeftOut } from '../kept-entries.ts'
import type { ScriptStep } from '../script-steps.ts'
import { code, dialogAnswer, statementsOf, type Matches } from './statements.ts'

interface TestFacts {
  /** Any page of the session, whose locators write themselves. */
  readonly page: Page
  readonly session: Readonly<Record<string, unknown>>
  readonly remark: string | undefined
  /** Comment after the last step. */
  readonly end?: string | undefined
}

/** Returns the test, and the steps that Playwright has no equivalent of. */
export function testText(
  steps: readonly ScriptStep[],
  { end, page, remark, session }: TestFacts,
): { script: string; missing: LeftOut[] } {
  const missing: LeftOut[] = []
  const lines: string[] = []
  for (const [at, step] of steps.entries()) {
    const statements = statementsOf(step, (selector, matches) => locatorCode(page, step, String(selector), matches))
    const comments = step.comment === undefined ? [] : commentLines(step.comment)
    if (statements) lines.push(...comments, ...withEffects(step, statements, at + 1))
    else {
      missing.push({ number: at + 1, command: step.command, reason: 'Playwright has no equivalent' })
      lines.push(...commentLines(`${step.command} ${JSON.stringify(step.data)} has no equivalent`))
    }
  }
  if (end !== undefined) lines.push(...commentLines(end))
  const usesTabs = lines.some((line) => /\btabs\[|\bpage = /.test(line))
  const usesContext = usesTabs || lines.some((line) => line.includes('context.'))
  const setup = usesTabs
    ? ['let page = first', 'const tabs = [page]', "context.on('page', (tab) => tabs.push(tab))"]
    : []
  const fixtures = [usesTabs ? 'page: first' : 'page', ...(usesContext ? ['context'] : [])].join(', ')
  const use = useOptions(session)
  const usesTools = steps.some(({ command }) => command === 'call_page_tool')
  const script = [
    `import { expect, test } from '@playwright/test'`,
    '',
    ...(remark === undefined ? [] : commentLines(remark)),
    ...(usesTools ? commentLines(toolsRemark) : []),
    ...(use === undefined ? [] : [`test.use(${use})`, '']),
    `test(${code(titleOf(steps))}, async ({ ${fixtures} }) => {`,
    ...[...setup, ...lines].map((line) => `  ${line}`),
    '})',
    '',
  ].join('\n')
  return { script: withoutSeparators(script), missing }
}

const toolsRemark = "Tools of pages need Chromium with launchOptions: { args: ['--enable-features=WebMCP'] }."

/** Writes a text as comments, which every line terminator of JavaScript would end. */
const commentLines = (text: string): string[] => text.split(/\r\n|[\r\n\u2028\u2029]/).map((line) => `// ${line}`)

/** Escapes the line terminators that literals may contain: editors and other tools read them as ends of lines. */
const withoutSeparators = (script: string): string =>
  script.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')

/** Returns the code of a locator: by role and name if the element was described, else by the selector of the step. */
function locatorCode(
  page: Page,
  { playwright = {} }: ScriptStep,
  selector: string,
  matches: Matches = 'first visible',
): string {
  const own = playwright[selector]
  if (own !== undefined) return `page.${page.locator(own).toString()}`
  return `page.${locateAll(page, parseSelector(selector)).toString()}${limitsTo[matches]}`
}

const limitsTo: Readonly<Record<Matches, string>> = {
  'first visible': '.filter({ visible: true }).first()',
  first: '.first()',
  all: '',
}

/** Adds what waits for the effects of a step: another tab, a dialog that the session has accepted, a download. */
function withEffects(
  { dialogs = [], isDownload, opensTab }: ScriptStep,
  statements: readonly string[],
  number: number,
): string[] {
  const isAccepted = dialogs.some(
    (dialog) => 'answered_by' in dialog && dialog.answered_by === 'setting' && dialog.answer === 'accepted',
  )
  const before = isAccepted ? [dialogAnswer(true)] : []
  if (opensTab) {
    const name = `popup${number}`
    return [...before, `const ${name} = page.waitForEvent('popup')`, ...statements, `page = await ${name}`]
  }
  const name = `download${number}`
  if (isDownload) return [...before, `const ${name} = page.waitForEvent('download')`, ...statements, `await ${name}`]
  return [...before, ...statements]
}

const names: Readonly<Record<string, string>> = {
  viewport: 'viewport',
  locale: 'locale',
  timezone: 'timezoneId',
  user_agent: 'userAgent',
  skip_tls_verification: 'ignoreHTTPSErrors',
}

function useOptions(session: Readonly<Record<string, unknown>>): string | undefined {
  const given = Object.entries(session).flatMap(([name, value]) => (names[name] ? [[names[name], value]] : []))
  return given.length > 0 ? code(Object.fromEntries(given)) : undefined
}

function titleOf(steps: readonly ScriptStep[]): string {
  const title = steps.findLast(({ data }) => typeof data['title'] === 'string')?.data['title']
  const url = steps.find(({ command }) => command === 'navigate_to')?.data['url']
  return String(title ?? url ?? 'the session').replaceAll(/\$\{env\.\w+\}/g, '***')
}
