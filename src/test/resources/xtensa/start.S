/* SPDX-License-Identifier: Apache-2.0
 *
 * Reset of QEMU's machine sim, at 0x50000000, and its calls to the computer. Literals lie before the code that loads them.
 */
  .section .text.start, "ax"
  .global _start
_start:
  j 1f
  .align 4
  .literal_position
  .align 4
1:
  movi a1, _stack
  movi a0, 0
  call0 start
2:
  j 2b

  .text
  .align 4
  .global simcall
  .type simcall, @function
simcall:
  simcall
  ret
