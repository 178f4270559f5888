// SPDX-License-Identifier: Apache-2.0
/** Which number format every value and constant of a quantized network has, by TensorFlow Lite's specification. */
package io.kiln.quantize.plan;
