// SPDX-License-Identifier: Apache-2.0
/**
 * The road from a model file to proven firmware, step by step; the only engine code that sees both the compiler and the
 * firmware half. Every step knows by a fingerprint whether it has anything to do.
 */
package io.kiln.flow;
