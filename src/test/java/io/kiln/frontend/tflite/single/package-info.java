// SPDX-License-Identifier: Apache-2.0
/**
 * Models of one operator each, written byte by byte, for tests of importers, kernels and lowerings. No counterpart in the product writes
 * such models.
 */
package io.kiln.frontend.tflite.single;
