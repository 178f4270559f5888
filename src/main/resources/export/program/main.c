/* SPDX-License-Identifier: Apache-2.0
 * Proves that @MODELS@ answers as the model says. This file is yours to use without conditions.
 */
#include "kiln_proof.h"
#include <stdio.h>

int main(void) {
  int wrong = kiln_proof();
  printf("%s: %d of %d cases are wrong\n", wrong == 0 ? "PASS" : "FAIL", wrong, kiln_proof_cases());
  return wrong == 0 ? 0 : 1;
}
