/* SPDX-License-Identifier: Apache-2.0
 * Proves that @MODELS@ answers as the model says. This file is yours to use without conditions.
 */
#include <@NAME@.h>
#include "kiln_proof.h"

void setup() {
  Serial.begin(115200);
  while (!Serial) {
  }
  int wrong = kiln_proof();
  Serial.print(wrong == 0 ? "PASS: " : "FAIL: ");
  Serial.print(wrong);
  Serial.print(" of ");
  Serial.print(kiln_proof_cases());
  Serial.println(" cases are wrong");
}

void loop() {
}
