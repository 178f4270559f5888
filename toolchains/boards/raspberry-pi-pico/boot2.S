/* SPDX-License-Identifier: Apache-2.0
 *
 * Second stage of the RP2040's boot (RP2040 Datasheet, 2.8.1 and 4.10): the boot ROM copies the first 256 bytes of the flash to SRAM, and runs
 * them there if their last word is the checksum of the others. This stage sets the flash interface up so that the flash can be read as
 * memory, by command 03h (plain serial read), which every flash chip knows; then it starts the image at its vector table.
 *
 * The checksum is a CRC-32 (polynomial 0x04c11db7, most significant bit first, from 0xffffffff, not inverted) of the first 252 bytes.
 * Every instruction here has one encoding only, so that it is the same with any assembler; a test computes it again.
 */
  .syntax unified
  .thumb
  .section .boot2, "ax", %progbits
  .balign 4
  .global kiln_boot2
  .thumb_func
  .type kiln_boot2, %function
kiln_boot2:
  push {lr}
  ldr r3, ssi
  movs r1, #0
  str r1, [r3, #0x08]  /* SSIENR: off while it is set up */
  movs r1, #4
  str r1, [r3, #0x14]  /* BAUDR: 31.25 MHz at a core clock of 125 MHz; command 03h is good for 50 MHz */
  ldr r1, control
  str r1, [r3, #0x00]  /* CTRLR0 */
  movs r1, #0
  str r1, [r3, #0x04]  /* CTRLR1: one frame a read */
  ldr r1, spi_control
  ldr r0, spi_control_address
  str r1, [r0]         /* SPI_CTRLR0 */
  movs r1, #1
  str r1, [r3, #0x08]  /* SSIENR: on */

  /* Called by something that wants to come back, such as a flash driver? The boot ROM leaves 0 in lr. */
  pop {r0}
  cmp r0, #0
  beq start
  bx r0

start:
  ldr r0, vectors
  ldr r1, vtor
  str r0, [r1]
  ldr r1, [r0]
  msr msp, r1
  ldr r0, [r0, #4]
  bx r0

  .balign 4
ssi:
  .word 0x18000000
control:
  .word 31 << 16 | 3 << 8 /* frames of 32 bits, standard SPI, a read for each address sent */
spi_control:
  .word 0x03 << 24 | 2 << 8 | 6 << 2 /* command 03h of 8 bits, address of 24 bits, both on one line */
spi_control_address:
  .word 0x180000f4
vectors:
  .word 0x10000100
vtor:
  .word 0xe000ed08

  .org 252
  .word 0x296da484 /* checksum */
