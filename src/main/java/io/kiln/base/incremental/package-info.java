// SPDX-License-Identifier: Apache-2.0
/**
 * Inputs of results, remembered between builds: a {@link io.kiln.base.incremental.Fingerprint} has a result's current
 * inputs, {@link io.kiln.base.incremental.Fingerprint.Made} those it was made from, and {@link io.kiln.base.incremental.Fingerprint.Made.Journal} is
 * the file that stores them.
 */
package io.kiln.base.incremental;
