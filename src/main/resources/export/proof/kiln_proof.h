/* SPDX-License-Identifier: Apache-2.0
 * Made by Kiln; this file is yours to use without conditions.
 */
#ifndef KILN_PROOF_H_
#define KILN_PROOF_H_

#ifdef __cplusplus
extern "C" {
#endif

/*! \brief Number of cases whose answers are known. */
int kiln_proof_cases(void);

/*! \brief Runs the models on all cases; returns how many answers are wrong, 0 if none is. */
int kiln_proof(void);

#ifdef __cplusplus
}
#endif

#endif  // KILN_PROOF_H_
