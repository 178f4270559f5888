// SPDX-License-Identifier: Apache-2.0
/**
 * The signal processing that turns audio into a model's input: described in YAML, planned as integers and tables, interpreted in Java and
 * printed as C. Both
 * give the same bytes. The packages of the compiler and of the firmware do not know it.
 */
package io.kiln.preprocess;
