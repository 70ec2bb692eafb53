/** Bits of the flags of a mark, which the page sets and the engine reads. */
export const bits = {
  usable: 1,
  secret: 2,
  focused: 4,
  modal: 8,
  blocked: 16,
  editor: 32,
  decoy: 64,
  outside: 128,
  checkbox: 256,
  radio: 512,
  switch: 1024,
  checked: 2048,
  hidden: 4096,
}
