/** Prompts for the most common tasks. */
import type { Prompt } from '@modelcontextprotocol/server'
import { BaxError } from '../core/errors/errors.ts'

interface PromptText {
  readonly description: string
  /** Arguments with a description; all are required. */
  readonly arguments: Readonly<Record<string, string>>
  /** Tool without which it makes no sense. */
  readonly needs: string
  text(given: Readonly<Record<string, string>>): string
}

const prompts: Readonly<Record<string, PromptText>> = {
  use_application: {
    description: 'Do a task in a web application',
    arguments: { url: 'Page to start with', task: 'What to do' },
    needs: 'browser_act',
    text: ({ url, task }) =>
      `Open ${url} with browser_open and do this: ${task}\n\nPut several commands into one browser_act call, and read only what changed. If a reference is stale, call browser_observe. Ask before you delete, buy, send or publish something. At the end, confirm on the page that it worked.`,
  },
  answer_from_site: {
    description: 'Answer a question from a site',
    arguments: { url: 'Start page', question: 'Question to answer' },
    needs: 'web_crawl',
    text: ({ url, question }) =>
      `Answer this from ${url}: ${question}\n\nCall web_crawl with url and with a few words of the answer as find, so that only the matching passages are returned. If they are not enough, read the best pages with id and read. Quote the passage and its URL. Say so if the site does not answer the question.`,
  },
  extract_list: {
    description: 'Turn a listing into JSON',
    arguments: { url: 'Page with the listing', fields: 'Fields of each entry' },
    needs: 'web_scrape',
    text: ({ url, fields }) =>
      `Turn the listing at ${url} into a JSON array whose entries have: ${fields}\n\nCall web_scrape with a JSON Schema. Compare the number of entries with the page, follow further pages of the listing, and leave out values that the page does not have.`,
  },
}

/** Lists the prompts for the tools that the client has. */
export const listPrompts = (tools: ReadonlySet<string>): Prompt[] =>
  Object.entries(prompts)
    .filter(([, { needs }]) => tools.has(needs))
    .map(([name, { description, arguments: fields }]) => ({
      name,
      description,
      arguments: Object.entries(fields).map(([field, about]) => ({ name: field, description: about, required: true })),
    }))

/** Returns the message of a prompt. @throws BaxError `invalid_request` for an unknown one or a missing argument */
export function promptText(
  name: string,
  given: Readonly<Record<string, string>>,
): { description: string; text: string } {
  const prompt = Object.hasOwn(prompts, name) ? prompts[name] : undefined
  if (!prompt) throw new BaxError('invalid_request', `there is no prompt ${JSON.stringify(name)}`)
  const missing = Object.keys(prompt.arguments).find((field) => !given[field])
  if (missing !== undefined) throw new BaxError('invalid_request', `${missing} is required`)
  return { description: prompt.description, text: prompt.text(given) }
}
