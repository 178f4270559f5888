// SPDX-License-Identifier: Apache-2.0
/**
 * Damaged, mutated and hostile input for every reader of files, each held to the same property: one clear error or a right answer, in
 * bounded memory. It has no counterpart in the product because one property holds for readers of many packages.
 */
package io.kiln.fuzz;
