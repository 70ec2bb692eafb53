/** A language model as the engine sees it. */

export interface Message {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

export interface Question {
  readonly messages: readonly Message[]
  /** JSON schema that the answer is to have; a model may still answer otherwise. */
  readonly schema?: Readonly<Record<string, unknown>>
  readonly signal?: AbortSignal
}

export interface LanguageModel {
  /**
   * The text of the model's answer.
   * @throws BaxError `model_failed` or `timeout` when there is none.
   */
  answer(question: Question): Promise<string>
}
