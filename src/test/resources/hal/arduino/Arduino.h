/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of an Arduino core that the example of a library uses, made up for Kiln's tests.
 */
#ifndef ARDUINO_H_
#define ARDUINO_H_

#include <stdint.h>

extern "C" uint32_t millis(void);

void setup();
void loop();

struct HardwareSerial {
  void begin(unsigned long baud);
  explicit operator bool() const { return true; }
  void print(const char* text);
  void print(int value);
  void println(const char* text);
};

extern HardwareSerial Serial;

#endif
