// SPDX-License-Identifier: Apache-2.0
/** Writes quantized networks as {@code .tflite}. */
package io.kiln.frontend.tflite.write;
