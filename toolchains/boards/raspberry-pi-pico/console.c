/* SPDX-License-Identifier: Apache-2.0
 *
 * Console on UART0 of an RP2040 (RP2040 Datasheet, 2.15, 2.16, 2.18 and 4.2): GPIO 0 transmits, GPIO 1 receives. The crystal of 12 MHz
 * clocks the UART and, by the PLL, the core: kiln_settings.h has what board.yaml names.
 */
#include "kiln_console.h"
#include "kiln_register.h"
#include "kiln_settings.h"
#include "kiln_wait.h"

#define SET 0x2000u /* alias of a register: writes set bits */
#define CLEAR 0x3000u

#define CLK_REF_CTRL 0x40008030u
#define CLK_REF_SELECTED 0x40008038u
#define CLK_SYS_CTRL 0x4000803cu
#define CLK_SYS_SELECTED 0x40008044u
#define CLK_PERI_CTRL 0x40008048u
#define RESETS_RESET 0x4000c000u
#define RESETS_DONE 0x4000c008u
#define GPIO0_CTRL 0x40014004u
#define GPIO1_CTRL 0x4001400cu
#define XOSC_CTRL 0x40024000u
#define XOSC_STATUS 0x40024004u
#define XOSC_STARTUP 0x4002400cu
#define PLL_CS 0x40028000u
#define PLL_PWR 0x40028004u
#define PLL_FBDIV 0x40028008u
#define PLL_PRIM 0x4002800cu
#define UART_DR 0x40034000u
#define UART_FR 0x40034018u
#define UART_IBRD 0x40034024u
#define UART_FBRD 0x40034028u
#define UART_LCR_H 0x4003402cu
#define UART_CR 0x40034030u
#define UART_IFLS 0x40034034u
#define UART_IMSC 0x40034038u

#define RESET_IO_BANK0 (1u << 5)
#define RESET_PADS_BANK0 (1u << 8)
#define RESET_PLL_SYS (1u << 12)
#define RESET_UART0 (1u << 22)

#define UART_DIVIDER ((4u * KILN_SOURCE_CLOCK + KILN_BAUD / 2u) / KILN_BAUD) /* in 64th parts of 16 cycles */

#define FUNCTION_UART 2u
#define RECEIVER_EMPTY (1u << 4)
#define TRANSMITTER_FULL (1u << 5)
#define RECEIVED (1u << 6 | 1u << 4) /* some bytes, or fewer and then none for 32 bits */
#define INTERRUPT 20u

static void out_of_reset(uint32_t blocks) {
  KILN_REGISTER(RESETS_RESET + CLEAR) = blocks;
  kiln_await(RESETS_DONE, blocks, blocks);
}

static void crystal(void) {
  KILN_REGISTER(XOSC_STARTUP) = 47u; /* times 256 cycles: 1 ms */
  KILN_REGISTER(XOSC_CTRL) = 0xfabu << 12 | 0xaa0u; /* on, 1 to 15 MHz */
  kiln_await(XOSC_STATUS, 1u << 31, 1u << 31);
  kiln_change(CLK_REF_CTRL, 3u, 2u);
  kiln_await(CLK_REF_SELECTED, 1u << 2, 1u << 2);
}

static void pll(void) {
  KILN_REGISTER(CLK_SYS_CTRL + CLEAR) = 1u; /* from the crystal while the PLL is set up */
  kiln_await(CLK_SYS_SELECTED, 1u, 1u);
  KILN_REGISTER(RESETS_RESET + SET) = RESET_PLL_SYS;
  out_of_reset(RESET_PLL_SYS);
  KILN_REGISTER(PLL_CS) = 1u; /* the crystal undivided */
  KILN_REGISTER(PLL_FBDIV) = KILN_PLL_FACTOR;
  KILN_REGISTER(PLL_PWR + CLEAR) = 1u << 5 | 1u; /* oscillator and PLL on */
  kiln_await(PLL_CS, 1u << 31, 1u << 31);
  KILN_REGISTER(PLL_PRIM) = 6u << 16 | KILN_PLL_OUTPUT_DIVIDER / 6u << 12;
  KILN_REGISTER(PLL_PWR + CLEAR) = 1u << 3; /* dividers on */
  kiln_change(CLK_SYS_CTRL, 7u << 5, 0u);   /* the PLL as the other source */
  KILN_REGISTER(CLK_SYS_CTRL + SET) = 1u;
  kiln_await(CLK_SYS_SELECTED, 2u, 2u);
}

void kiln_console_init(void) {
  crystal();
  pll();
  KILN_REGISTER(CLK_PERI_CTRL) = 1u << 11 | 4u << 5; /* on, from the crystal */
  out_of_reset(RESET_IO_BANK0 | RESET_PADS_BANK0 | RESET_UART0);
  KILN_REGISTER(GPIO0_CTRL) = FUNCTION_UART;
  KILN_REGISTER(GPIO1_CTRL) = FUNCTION_UART;
  KILN_REGISTER(UART_IBRD) = UART_DIVIDER >> 6;
  KILN_REGISTER(UART_FBRD) = UART_DIVIDER & 63u;
  KILN_REGISTER(UART_LCR_H) = 3u << 5 | 1u << 4; /* 8 bits, with queues */
  KILN_REGISTER(UART_IFLS) = 0u;     /* from four bytes on */
  KILN_REGISTER(UART_IMSC) = RECEIVED;
  KILN_REGISTER(UART_CR) = 1u << 9 | 1u << 8 | 1u;
}

int kiln_console_poll(void) {
  return (KILN_REGISTER(UART_FR) & RECEIVER_EMPTY) == 0u ? (int)(KILN_REGISTER(UART_DR) & 0xffu) : -1;
}

int kiln_console_get(void) {
  return kiln_console_wait(INTERRUPT);
}

void kiln_console_put(uint8_t byte) {
  kiln_await(UART_FR, TRANSMITTER_FULL, 0u);
  KILN_REGISTER(UART_DR) = byte;
}
