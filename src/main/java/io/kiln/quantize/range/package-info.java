// SPDX-License-Identifier: Apache-2.0
/** Calibration: which range the values of a float network take over samples. */
package io.kiln.quantize.range;
