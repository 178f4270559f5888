// SPDX-License-Identifier: Apache-2.0
/**
 * The shipped example: a network that tells gestures by an accelerometer. Data, training and quantization are all here and
 * give the same bytes on every machine: seeded generators, sequential sums, {@link java.lang.StrictMath}.
 */
package io.kiln.example;
