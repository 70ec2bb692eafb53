/** Interface of the language model that the engine uses. */

export interface Message {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

export interface Question {
  readonly messages: readonly Message[]
  /** JSON schema of the expected answer; models may violate it. */
  readonly schema?: Readonly<Record<string, unknown>>
  readonly signal?: AbortSignal
}

export interface LanguageModel {
  /**
   * Returns the text of the model's answer.
   * @throws BaxError `model_failed` or `timeout`.
   */
  answer(question: Question): Promise<string>
}
