/* SPDX-License-Identifier: Apache-2.0
 *
 * The core has main and the tick of a millisecond. A sketch that proves a library does so again and again, until the tick has interrupted it often.
 */
#include <Arduino.h>

extern "C" {
void SystemInit(void);
void SysTick_Handler(void);
}

HardwareSerial Serial;
static volatile uint32_t ticks;

void SystemInit(void) {
  *reinterpret_cast<volatile uint32_t*>(0xe000ed88u) |= 0xfu << 20;
}

void SysTick_Handler(void) {
  ticks = ticks + 1u;
}

uint32_t millis(void) {
  return ticks;
}

void HardwareSerial::begin(unsigned long baud) {
  volatile uint32_t* uart = reinterpret_cast<volatile uint32_t*>(0x40004000u);
  uart[4] = 25000000u / baud;
  uart[2] = 3u;
}

void HardwareSerial::print(const char* text) {
  volatile uint32_t* uart = reinterpret_cast<volatile uint32_t*>(0x40004000u);
  for (; *text != '\0'; ++text) {
    while ((uart[1] & 1u) != 0u) {
    }
    uart[0] = static_cast<uint8_t>(*text);
  }
}

void HardwareSerial::print(int value) {
  const char digit[2] = {static_cast<char>(value < 10 ? '0' + value : '#'), '\0'};
  print(digit);
}

void HardwareSerial::println(const char* text) {
  print(text);
  print("\r\n");
}

/* Ends the emulator, as no sketch ends. */
[[noreturn]] static void end(uint32_t code) {
  const uint32_t block[2] = {0x20026u, code};
  register uint32_t r0 __asm__("r0") = 0x20u;
  register const void* r1 __asm__("r1") = block;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  for (;;) {
  }
}

int main() {
  volatile uint32_t* tick = reinterpret_cast<volatile uint32_t*>(0xe000e010u);
  tick[1] = 24999u;
  tick[2] = 0u;
  tick[0] = 7u;
  while (millis() < 20u) {
    setup();
    loop();
  }
  end(0u);
}
