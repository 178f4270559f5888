/* SPDX-License-Identifier: Apache-2.0
 * Proves that @MODELS@ answers as the model says. This file is yours to use without conditions.
 */
#include <@NAME@.h>
#include "kiln_proof.h"
#ifdef ARDUINO
#include <Arduino.h>

void setup() {
  Serial.begin(115200);
  int wrong = kiln_proof();
  Serial.print(wrong == 0 ? "PASS: " : "FAIL: ");
  Serial.print(wrong);
  Serial.print(" of ");
  Serial.print(kiln_proof_cases());
  Serial.println(" cases are wrong");
}

void loop() {
}
#else
#include <stdio.h>

int main() {
  int wrong = kiln_proof();
  printf("%s: %d of %d cases are wrong\n", wrong == 0 ? "PASS" : "FAIL", wrong, kiln_proof_cases());
  return wrong == 0 ? 0 : 1;
}
#endif
