// SPDX-License-Identifier: Apache-2.0
/** Representative inputs of a float model and their labels, read from files that are untrusted. */
package io.kiln.quantize.sample;
