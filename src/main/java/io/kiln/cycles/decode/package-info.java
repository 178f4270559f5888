// SPDX-License-Identifier: Apache-2.0
/**
 * Machine code as far as its timing needs it: kinds of instructions and the registers that they use, for Thumb with its
 * extensions and for RV32IMAC. The encodings are tables among the resources ({@code cycles/*.txt}).
 */
package io.kiln.cycles.decode;
