/** Questions of tools that a client's person answers on a page (`input_required` with a URL). */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { parsed } from '../message.ts'
import type { Tool, ToolAnswer, ToolCall } from '../tool.ts'

const question = 'url'

type Asked = Pick<ServerContext['mcpReq'], 'envelope' | 'inputResponses' | 'requestState'>

/** Returns whether a tool asks by a URL, and the client can show it to its person. */
export function usesUrls({ asksByUrl }: Tool, { envelope }: Pick<Asked, 'envelope'>): boolean {
  const meta = envelope as { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined
  return asksByUrl === true && meta?.[CLIENT_CAPABILITIES_META_KEY]?.elicitation?.url !== undefined
}

/** Returns how the client of a call shows URLs to its person; undefined if it cannot. */
export function urlsOf(tool: Tool, mcpReq: Asked, isModern: boolean): ToolCall['urls'] {
  if (!isModern || !usesUrls(tool, mcpReq)) return undefined
  const text = mcpReq.requestState<string>()
  if (text === undefined) return { answer: undefined }
  const state = parsed(Buffer.from(text))
  const answer = inputResponse(mcpReq.inputResponses, question)
  // Without an answer, the client has no person who could open the URL.
  return { answer: { state, accepted: answer.kind === 'elicit' && answer.action === 'accept' } }
}

export const urlQuestion = ({ message, url, state }: NonNullable<ToolAnswer['ask']>): InputRequiredResult =>
  inputRequired({
    inputRequests: { [question]: inputRequired.elicitUrl({ message, url }) },
    requestState: JSON.stringify(state),
  })
