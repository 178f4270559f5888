// SPDX-License-Identifier: Apache-2.0
/**
 * The steps from a model file to verified firmware; the only engine code that sees both the compiler and the firmware
 * half. Every step has a fingerprint that tells whether it is up to date.
 */
package io.kiln.flow;
