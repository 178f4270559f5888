// SPDX-License-Identifier: Apache-2.0
/** Writes quantised networks as {@code .tflite}. */
package io.kiln.frontend.tflite.write;
