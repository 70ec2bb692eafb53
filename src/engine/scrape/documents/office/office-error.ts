/** `unsupported`: another kind of file than its name or type says. */
export type OfficeFailureReason = 'locked' | 'broken' | 'large' | 'unsupported'

/** Why an office document cannot be read. */
export class OfficeError extends Error {
  readonly reason: OfficeFailureReason

  constructor(reason: OfficeFailureReason, message: string) {
    super(message)
    this.reason = reason
  }
}
